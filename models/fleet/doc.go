// Package fleet holds the workers: the last heartbeat of each, the credentials with their devices, the devices that an
// admin has paused, those that were ever seen, and the repeated benchmarks of slots.
//
// Read it in this order: worker.go (heartbeats, slots, CountSlots: numbers of slots), reports.go (reading them),
// credential.go (secrets of remote workers), join.go (guests), claim.go (the site's own), pause.go, devices.go (labels
// of devices, and the meaning of a family's name in a task), slot_benchmarks.go.
//
// StoreBenchmark stores a slot benchmark of a heartbeat, once. DescribeDrift compares the last two with up to fifty
// before them, by median and median deviation; package scores asks for it when a result comes. A benchmark is a median
// of many calls in one process: two of them differ as much as two processes do. So less than 2 % is never drift, and
// neither is a single deviation. A lasting change becomes the usual time once most of the last fifty benchmarks have
// it, after some four hours of an idle slot; the drift then ends without a review.
//
// The store of package models embeds Fleet; the dispatcher and the queue page read it through that. Package models
// calls DeviceFilterOf before a worker gets an attempt, and CanProfile before it queues a profile.
//
// The credential identifies a worker; its name is a label. No two workers have one name: the site's own claims its name
// (claim.go), a guest gets no name of a known worker (join.go), and a revoked credential stays until no connection can
// have its name. So a worker without a credential is the site's own, or comes from a cluster that admits workers
// without asking the site.
//
// A worker with a credential only ever counts for the devices of that credential, independent of the slots that it
// reports.
//
// Trap: a heartbeat is up to a few seconds old, and a site that was blocked gets all heartbeats late. A caller that
// acts on silence (evaluator/dispatch) has to consider since when the site has listened; IsLive does not.
package fleet
