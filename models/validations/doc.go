// Package validations stores what the validation scripts of tasks said of entries: whether a kernel applies in the
// script's application.
//
// Read validations.go. models/validate.go queues the runs in which workers run a script, and takes over what they say.
// There is one row for each entry's run, of the newest time that someone asked.
//
// It promises that no row changes a rank or a score.
package validations
