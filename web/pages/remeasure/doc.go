// Package remeasure is the pages about what is measured again: drift.go, what new software changed on a device, for
// everybody; rejudge.go, a task's boards judged anew, for its author and admins; rows.go is what both show of a run.
package remeasure
