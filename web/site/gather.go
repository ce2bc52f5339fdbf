package site

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"warpboard/models/work"
	"warpboard/web/conns"
)

// gatherBatch is the number of a submission's events that are read from the store at once.
const gatherBatch = 500

// EventStore reads events, which another process may have stored.
type EventStore interface {
	EventsSince(ctx context.Context, submissionID, after int64, most int) ([]work.RunEvent, error)
	LastEventID(ctx context.Context, submissionID int64) (int64, error)
}

// eventReader reads the new events of a submission once for all readers of this process. With several processes an
// announcement only means that there are new events, because announcements of two processes may arrive in another order
// than the events were stored.
//
// Events up to newest have been passed on, or were stored before the readers began to read for themselves. A reader
// that subscribes later reads those from the store, so it misses none; readers skip events that they have.
type eventReader struct {
	hub   *conns.Hub
	store EventStore

	mu     sync.Mutex
	newest map[int64]*readerPosition // by submission ID
}

// readerPosition is the position up to which the readers of a submission have its events. One goroutine reads, and at
// most one more waits to read later events.
type readerPosition struct {
	waiting atomic.Bool

	mu    sync.Mutex
	known bool
	event int64
}

// gather passes on new events of a submission, without waiting.
func (g *eventReader) gather(submissionID int64) {
	if !g.hub.Watched(RunTopic(submissionID)) {
		return
	}
	p := g.position(submissionID)
	if !p.waiting.CompareAndSwap(false, true) {
		return
	}
	go func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), RequestTimeout)
		defer cancel()
		g.read(ctx, submissionID, p)
	}()
}

// read must be called with p.mu held. If reading fails, readers read for themselves.
func (g *eventReader) read(ctx context.Context, submissionID int64, p *readerPosition) {
	topic := RunTopic(submissionID)
	if !p.known {
		newest, err := g.store.LastEventID(ctx, submissionID)
		p.known, p.event = err == nil, newest
		g.hub.Publish(topic, conns.Message{})
		return
	}
	for {
		events, err := g.store.EventsSince(ctx, submissionID, p.event, gatherBatch)
		if err != nil {
			p.known = false
			g.hub.Publish(topic, conns.Message{})
			return
		}
		for _, e := range events {
			p.event = e.ID
			g.hub.Publish(topic, conns.Message{Event: &SharedEvent{RunEvent: e}})
		}
		if len(events) < gatherBatch {
			return
		}
	}
}

// position returns the state of a submission. Creating one removes those without readers: the last event of a
// submission is passed on while it still has readers.
func (g *eventReader) position(submissionID int64) *readerPosition {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.newest[submissionID] == nil {
		maps.DeleteFunc(g.newest, func(id int64, _ *readerPosition) bool { return !g.hub.Watched(RunTopic(id)) })
		g.newest[submissionID] = &readerPosition{}
	}
	return g.newest[submissionID]
}

// forgetAll resets the state after announcements may have been missed.
func (g *eventReader) forgetAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.newest)
}
