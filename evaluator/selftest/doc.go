// Package selftest has the small programs that a slot must compile and run before it takes jobs, and reads their results.
//
// In reading order: programs.go makes the jobs from built-in tasks: one for each language of the machine, with the same
// build, sandbox, judge and runner as a submission; verdict.go turns their results into lines for the queue page, with
// what to do; passed.go records with which software they passed.
//
// The worker runs them (evaluator/check.go): before a slot goes into service, and before it returns to service.
//
// What may go wrong: a program that passes does not test what it does not use (a GPU's whole memory, a library that a task
// includes). Such failures still retire a slot after three jobs.
package selftest
