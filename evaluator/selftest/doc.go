// Package selftest has the small programs that a slot must compile and run before it takes jobs, and reads their results.
//
// In reading order: programs.go makes the jobs, of the built-in tasks: one for each language that the machine claims, through
// the same build, sandbox, judge and runner that a submission goes through; verdict.go makes lines for the devices page of
// how they ended, with what to do; passed.go remembers with which software they passed.
//
// The worker runs them (evaluator/check.go): when a slot comes into service, and again after it left it.
//
// What may go wrong: a program that passes says little of what it does not use (a GPU's whole memory, a library that a task
// includes). Such failures still retire a slot after three jobs.
package selftest
