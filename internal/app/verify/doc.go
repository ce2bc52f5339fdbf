// Package verify has the command verify-task, which checks on this machine whether a task is valid and separates
// correct solutions from wrong ones, and the command import, which makes tasks of other benchmarks' problems.
//
//	task.go    flags, and one round over the tasks at a path
//	run.go     one task: its solutions on a worker without a site
//	report.go  the report, in lines or as JSON
//	watch.go   repeats the check when a file changes
//	import.go  imports problems
package verify
