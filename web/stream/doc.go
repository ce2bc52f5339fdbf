// Package stream sends server-sent events: a hub of topics and a source per open stream. It knows neither runs
// nor boards.
//
// Read hub.go, then sse.go. A publisher never waits: a reader who falls behind gets one message without an
// event, which means "read what is kept". A source therefore sends its backlog first and after that only what is
// newer.
package stream
