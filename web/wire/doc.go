// Package wire is about connections: who is at the other end, how many are let in, when they leave, and what is
// written to one that was taken over from fasthttp.
//
// Read address.go (proxies and this machine), tally.go (shares), guard.go (the listener), watch.go (noticing that
// the other side left), writer.go (chunks with a deadline each), group.go (what a server waits for when it stops).
//
// An address decides about limits and the log, never about rights, but for FromThisMachine, which takes every
// mark of a proxy as a no. Only plain TCP can be watched.
package wire
