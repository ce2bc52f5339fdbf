// Package fleet holds the workers: the last heartbeat of each, the credentials with their devices, and the devices that
// an admin has paused.
//
// Read it in this order: worker.go (heartbeats, slots, SlotsOf: numbers of slots), reports.go (reading them),
// credential.go (secrets of remote workers), join.go (guests), claim.go (the site's own), pause.go.
//
// The store of package models embeds Fleet; the dispatcher and the queue page read it through that. Package models
// calls MayTake before a worker gets an attempt, and CanProfile before it queues a profile.
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
// acts on silence (evaluator/dispatch) has to consider since when the site has listened; Live does not.
package fleet
