// Package stream sends server-sent events: a hub of topics and a source per open stream. It is independent of runs and
// boards.
//
// Read hub.go, then sse.go. A publisher never waits: a slow reader gets one message without an event, which means "read
// from the store". So a source sends its backlog first and then only newer events.
package stream
