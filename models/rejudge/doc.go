// Package rejudge stores why runs are measured again: because the software of a device changed, or because a task's author
// starts a rejudge.
//
// Read rejudge.go (the rows, and queries on them). rejudge.go of package models queues a ranked run for each of them, and lets
// its sample count (package pools): at once for a new epoch, by decision for a rejudge.
//
// It promises that a run is measured again once per Rejudge, also across restarts.
package rejudge
