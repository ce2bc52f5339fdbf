// Package queue carries messages between the site and its workers over NATS, and stores nothing. By default the server is
// embedded in the process with no port open; the same code serves remote workers when it listens, and uses an external cluster
// when it is given a URL. It uses only core NATS: requests with answers, and announcements.
//
// The database is the queue. A worker pulls from it through the site:
//
//	worker ──request──▶ any process of the site (queue group) ──one transaction──▶ SQL
//	       ◀──answer──
//
//	ask.WORKER.next.DEVICE   the next job; the attempt is begun in the transaction. Empty: there is none. Or a task to precompile
//	ask.WORKER.sync          every two seconds: what the worker has. The answer names the attempts to drop
//	ask.WORKER.events        a batch of events, in order. Answered once they are stored; the answer is that of sync
//	ask.WORKER.result        the end of an attempt, answered once it is recorded
//	work.DEVICE              announced when work may wait for a device; a worker without a job asks then, and now and then
//	ctl.cancel               an attempt that is cancelled; it may be lost
//
// Every request may be sent again: next gives a job that has not arrived once more, because the worker says which it holds;
// events count by attempt and number, results by attempt. So a worker repeats unanswered requests, and a crash of a process
// at any moment costs only time.
//
// A worker's credential may be stolen. The subjects that it may use hold its name or its devices, the NATS server guards
// them, and the site answers to that worker's inbox and nowhere else. A worker that sends too much only harms itself (see
// fair). What remains: a worker may take any job of its devices and send any result for it, and it gets the ids of cancelled
// attempts.
//
// Read it in this order: queue.go and server.go (the site's connection and the embedded server), desk.go (what answers workers),
// dial.go, conn.go, outbox.go and receive.go (the worker's side), auth.go and callout.go (who may connect, and say what).
package queue
