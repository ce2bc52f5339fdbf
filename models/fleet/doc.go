// Package fleet holds the workers: the last heartbeat of each, the credentials with their devices, the devices that an
// admin has paused, those that were ever seen, and the repeated benchmarks of slots.
//
// Read it in this order: worker.go (heartbeats, slots, CountSlots: numbers of slots), reports.go (reading heartbeats),
// credential.go (secrets of remote workers), join.go (guests, which join with a token), claim.go (names of the site's
// own workers), pause.go, devices.go (labels of devices, and the meaning of a family's name in a task),
// slot_benchmarks.go.
//
// StoreBenchmark stores a slot benchmark of a heartbeat, once. DescribeDrift compares the last two with up to fifty
// earlier ones, by median and median deviation; package scores calls it for each result. A benchmark is a median of
// many calls in one process, so two benchmarks differ as much as two processes do. Therefore less than 2 % is never
// drift, and neither is a single deviation. A lasting change becomes the usual time once most of the last fifty
// benchmarks have it, after some four hours of an idle slot; the drift then ends without a review.
//
// The store of package models embeds Fleet, through which the dispatcher and the queue page read it. Package models
// calls DeviceFilterOf before a worker gets an attempt, and CanProfile before it queues a profile.
//
// The credential identifies a worker; its name is a label. No two workers have one name: the site's own workers claim
// their names (claim.go), a guest cannot have the name of a known worker (join.go), and a revoked credential stays
// until no connection can have its name. So a worker without a credential is the site's own, or comes from a NATS
// cluster that admits workers without asking the site.
//
// A worker with a credential only ever counts for the devices of that credential, independent of the slots that it
// reports.
//
// Trap: a heartbeat is up to a few seconds old, and a site that was blocked gets all heartbeats late. A caller that
// acts on silence (evaluator/dispatch) has to consider since when the site has listened; IsLive does not.
package fleet
