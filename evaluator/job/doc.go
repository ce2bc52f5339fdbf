// Package job holds the messages that pass between the site and its workers: self-contained JSON, so that a worker
// needs nothing else, and no database.
//
// Read it in this order: ref.go (the name of a piece of work), job.go (a Job, and the Result that ends its attempt),
// event.go (messages in between: events and heartbeats), clocks.go (who timed a case), preparation.go (a hint), bidi.go
// (what must not reach a page).
//
// The site makes jobs in evaluator/dispatch; evaluator makes events and results; evaluator/queue carries them. A leaf:
// it imports the task format and nothing else of Warpboard.
//
// It promises that names in JSON stay: they are in the queue while site and workers are upgraded, and in the database.
// Version changes when an old worker could misread a job; it then refuses.
//
// What may go wrong: everything in a Result or an Event is a worker's claim. Secret says which attempt it belongs to;
// what a score is worth is computed again by the site.
package job
