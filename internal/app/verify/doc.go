// Package verify has the commands that check something on this machine: verify-task (task.go: whether a task is written
// well and tells right solutions from wrong ones), verify-result (result.go: whether what a site states of a run is signed and
// follows from its samples, and whether it can be measured again), verify-chain (chain.go: whether an export is whole).
//
//	task.go         flags, one round over the tasks at a path
//	run.go          one task: its solutions on a worker without a site
//	report.go       what is said of it, in lines or as JSON; watch.go: again whenever a file changes
//	result.go       a statement, and whose keys may have signed it; again.go: measuring it once more
//	chain.go        all statements, each after the one before
//
// It promises that a token is sent to the site that was named by flags or by the URL, and to no other: a statement may come
// from a stranger.
//
// What may go wrong: a score that is measured again differs for honest reasons (driver, compiler, clocks, heat). The exit code
// says that the intervals do not agree, and not why.
package verify
