// Package verify has the commands that check something on this machine: verify-task (task.go: whether a task is written well
// and separates correct solutions from wrong ones), verify-result (result.go: whether a site's statement about a run is signed
// and follows from its samples, and whether it can be measured again), verify-chain (chain.go: whether an export is whole).
//
//	task.go         flags, one round over the tasks at a path
//	run.go          one task: its solutions on a worker without a site
//	report.go       its report, in lines or as JSON; watch.go: again whenever a file changes
//	result.go       a statement, and whose keys may have signed it; again.go: measuring it once more
//	chain.go        all statements, each after the one before
//
// It promises to send a token only to the site that flags or the URL name, since a statement may come from a stranger.
//
// What may go wrong: a score that is measured again differs for honest reasons (driver, compiler, clocks, heat). The exit
// code shows that the intervals do not agree, but not why.
package verify
