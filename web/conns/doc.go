// Package conns is about connections: their peers, how many are admitted, their end, and writing to one that was taken over
// from fasthttp.
//
// Read address.go (proxies and this machine), limiter.go (shares), guard.go (the listener), watch.go (noticing that
// the other side left), writer.go (chunks with a deadline each), group.go (what a server waits for when it stops).
//
// An address matters for limits and the log, never for rights, except in FromThisMachine, which is false for every mark of a
// proxy. Only plain TCP can be watched.
package conns
