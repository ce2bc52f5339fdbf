// Package queue carries jobs from the site to its workers, and events, heartbeats and results
// back, over NATS JetStream. By default the server is embedded in the process with no port open;
// the same code serves remote workers when it listens, and uses an external cluster when it is
// given a URL.
//
// The queue is a pipe, not the truth: who holds an attempt, and whether a result counts, is
// decided by the database with the attempt's id and secret. What the queue promises is that a job
// published twice is delivered once, that a job whose worker goes away is delivered again, that a
// result is kept until it was recorded, and that a worker speaks only in its own name.
//
// A worker's credential may be stolen. So it has no rights to JetStream, which answers with the server's
// rights to any subject that the sender names: a worker asks the site (see desk), on subjects that hold its
// name and that the NATS server guards, and the site answers to that worker's inbox and nowhere else. What
// one worker sends too much of is its own loss (see fair). What remains: a worker may take any job of its
// devices and answer it as it likes, and it hears the ids of attempts that are cancelled.
package queue
