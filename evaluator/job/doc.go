// Package job has the messages between the site and its workers: self-contained JSON, so that a worker needs no
// database.
//
// Read it in this order: ref.go (the name of a piece of work), job.go (a Job, and the Result that ends its attempt),
// event.go (messages in between: events and heartbeats), clocks.go (the clocks of a case), preparation.go (a task to
// precompile), bidi.go (characters that must not reach a page), trial.go (what submissions with a known verdict show
// about a task).
//
// The site makes jobs in evaluator/dispatch; evaluator makes events and results; evaluator/queue transports them. The
// package imports only the task format.
//
// JSON names must not change: messages are in flight while site and workers are upgraded, and some are stored in the
// database. MessageVersion changes when an old worker could misread a job; it then refuses the job.
//
// Everything in a Result or an Event is a worker's claim. AttemptSecret shows to which attempt it belongs; the site
// computes scores again.
package job
