// Package verify has the command verify-task, which checks on this machine whether a task is written well and separates correct
// solutions from wrong ones.
//
//	task.go         flags, one round over the tasks at a path
//	run.go          one task: its solutions on a worker without a site
//	report.go       its report, in lines or as JSON; watch.go: again whenever a file changes
package verify
