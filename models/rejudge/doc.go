// Package rejudge stores which runs are measured again, and the results: because the software of a device changed, or
// because a task's author starts a rejudge.
//
// Read rejudge.go (the rows, and queries on them). rejudge.go of package models changes runs: it queues a
// ranked run for each Rerun and takes over its numbers: at once for a new epoch, by decision for a rejudge.
//
// It promises that a run is measured again once per Rejudge, also across restarts.
package rejudge
