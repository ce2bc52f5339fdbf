// Package rejudge keeps what is measured again, and what came of it: because the software of a device changed, or because
// a task's author wants its boards judged again.
//
// Read rejudge.go (what is kept, and questions about it). What changes runs is in rejudge.go of package models, which queues a
// ranked run for each Rerun and takes over its numbers: at once for a new epoch, by decision for a rejudge.
//
// It promises that a run is measured again once per Rejudge, whatever is restarted in the meantime.
package rejudge
