// Package remeasure is the pages about runs that a worker looks at again: because a device's software changed, because a
// task's author rejudges it, or has its validation script run. Package web routes to it; models/rejudge and
// models/validations keep what came of it, and package models queues the runs.
//
// Read drift.go (old and new scores of a device beside each other, for everyone), rejudge.go (a task's boards, for its
// author and admins: begin, look, apply or cancel), rows.go (what both show of a run) and validation.go (what the script said,
// for the same people).
//
// It promises that nothing on a board changes by looking: a rejudge counts when it is applied. Runs of hidden tasks are left
// out of a drift, its summary included, for anyone who may not see the task: two readers may see different sums.
package remeasure
