// Package fleet holds the workers: what each last said of itself, which may connect and for which devices, and which
// devices an admin has paused.
//
// Read it in this order: worker.go (heartbeats, slots, SlotsOf: how many slots take jobs), said.go (reading them), credential.go (secrets of
// remote workers), join.go (guests), claim.go (the site's own), pause.go, silicon.go (what an admin says of old rows).
//
// The store of package models embeds Fleet; the dispatcher and the devices page read it through that. Package models
// asks MayTake before it believes that a worker has an attempt, and CanProfile before it queues a profile.
//
// A worker is who its credential says; its name is a label. No two workers have one name: the site's own claims its name
// (claim.go), a guest gets no name of a known worker (join.go), and a revoked credential stays until no connection can have
// its name. So a worker without a credential is the site's own, or of a cluster that lets workers in without asking the site.
//
// It promises that a worker with a credential is only ever counted for the devices of that credential, whatever it
// says of its slots.
//
// What may go wrong: a heartbeat is up to a few seconds old, and a site that was held up hears of all its workers
// late. Who judges silence (evaluator/dispatch) has to know since when anyone listened; Live does not.
package fleet
