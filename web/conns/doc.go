// Package conns handles connections: their peers, limits, their end, and writing to a connection that was taken over
// from fasthttp.
//
// Read address.go (proxies and this machine), limiter.go (shares), guard.go (the listener), watch.go (detecting that
// the client has left), writer.go (chunks with a deadline each), group.go (goroutines that a stopping server waits
// for), hub.go and sse.go (server-sent events: a hub of topics, and a source per open stream).
//
// An address matters for limits and the log, never for rights, except in IsFromThisMachine, which is false for every
// header of a proxy. Only plain TCP can be watched.
//
// A publisher of events never waits: a slow reader gets one message without an event, which means "read from the
// store". So a source sends its backlog first and then only newer events.
package conns
