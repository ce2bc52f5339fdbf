// Package queue carries messages between the site and its workers over NATS, and stores nothing. By default the NATS
// server is embedded in the process with no port open. It can also listen for remote workers, or be an external
// cluster. The package uses only core NATS: requests with answers, and announcements.
//
// The database is the queue. A worker pulls from it through the site:
//
//	worker ──request──▶ any process of the site (queue group) ──one transaction──▶ SQL
//	       ◀──answer──
//
//	ask.WORKER.next.DEVICE   asks for a job; the transaction starts its attempt. The answer is empty if there is none.
//	                         It can also ask for a task to precompile
//	ask.WORKER.sync          a heartbeat every two seconds. The answer names the attempts to drop
//	ask.WORKER.events        a batch of events, in order; answered once they are stored, like sync
//	ask.WORKER.result        the end of an attempt; answered once it is recorded
//	work.DEVICE              announces that work may wait for a device, so that idle workers ask. They also ask every few
//	                         seconds without it
//	ctl.cancel               announces a cancelled attempt; it may be lost
//
// Every request may be repeated. next sends a job again that has not arrived, because the worker lists the attempts it
// holds; events are identified by attempt and number, results by attempt. So a worker repeats unanswered requests, and
// a crash of a process at any moment costs only time.
//
// A worker's credential may be stolen. The subjects that it may use contain its name or its devices, the NATS server
// enforces them, and the site answers only to that worker's inbox. The site drops requests of a worker that sends too
// many (see workerLimits). The embedded server has one connection of each worker (see replaceConnection), and holds at
// most maxPendingBytes for it; a cluster does not limit the connections. If workers send faster than the site reads,
// the NATS server drops messages of all workers, which repeat them, and does not cut the site's connection. Remaining
// risk: such a worker can take any job of its devices and send any result for it, it sees the IDs of cancelled
// attempts, and several of them delay other workers.
//
// Read it in this order: queue.go and server.go (the site's connection and the embedded server), serve.go (answering
// workers), dial.go, conn.go, outbox.go, and receive.go (the worker's side), auth.go and callout.go (authorization).
package queue
