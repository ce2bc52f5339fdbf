// Package evaluator makes a Result of a Job: its Worker owns the device slots of one machine,
// takes jobs for them from the queue, builds and runs each in the sandbox, tells what happens as
// it happens, and hands the result over. It has no database and keeps nothing between jobs.
//
// Building is not the device's work: a slot is held only while something runs on it, and the
// next job is built meanwhile. What belongs to a task is compiled before anybody submits to it, while
// no job needs the processors. Whatever a submission does is a result with its reason; what is
// the worker's own fault is marked as ours, so that the site tries again elsewhere.
package evaluator
