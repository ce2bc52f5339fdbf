// Package remeasure is the pages about runs that are measured again: because a device's software changed, or because a task's
// author rejudges it. Package web routes to it; models/rejudge keeps what came of it, and package models queues the runs.
//
// Read drift.go (old and new scores of a device beside each other, for everyone), rejudge.go (a task's boards, for its
// author and admins: begin, look, apply or cancel) and rows.go (what both show of a run).
//
// It promises that nothing on a board changes by looking: a rejudge counts when it is applied. Runs of hidden tasks are left
// out of a drift, its summary included, for anyone who may not see the task: two readers may see different sums.
package remeasure
