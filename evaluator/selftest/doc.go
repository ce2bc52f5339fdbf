// Package selftest has the small programs that a slot must compile and run before it takes jobs, and reads their
// results.
//
// In reading order: programs.go makes jobs from built-in tasks, one for each language of the machine, with the same
// build, sandbox, judge, and runner as a submission; verdict.go turns their results into lines for the queue page, with
// advice; passed.go records the software with which they passed.
//
// The worker runs them (evaluator/self_tests.go) before a slot goes into service, and before it returns to service.
//
// Limits: a program does not test what it does not use (a GPU's whole memory, a library that a task includes). Such
// failures retire a slot only after three jobs.
package selftest
