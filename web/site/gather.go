package site

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"warpboard/models/work"
	"warpboard/web/conns"
)

// eventsPerRead is the number of events that are read from the store at once.
const eventsPerRead = 500

// EventStore reads events of runs, including those that other processes stored.
type EventStore interface {
	EventsSince(ctx context.Context, submissionID, after int64, most int) ([]work.RunEvent, error)
	LastEventID(ctx context.Context, submissionID int64) (int64, error)
}

// eventReader reads the new events of a submission once for all readers of this process. If a site has several
// processes, an announcement only means that new events exist, because announcements of two processes may arrive in
// another order than the events were stored.
//
// Events up to newest were passed on or were stored before the first reader began. A reader that subscribes later reads
// earlier events from the store itself. Readers must skip events that they have.
type eventReader struct {
	hub   *conns.Hub
	store EventStore

	mu        sync.Mutex
	positions map[int64]*readerPosition // by submission ID
}

// readerPosition is the position of an eventReader in the events of one submission. lastEventID is the newest event
// that was passed to the readers (the open streams of this process). The goroutine that reads events holds mu.
// isReadWaiting is true while a second goroutine waits for mu. It will also read all later events, so no third one is
// started.
type readerPosition struct {
	isReadWaiting atomic.Bool

	mu          sync.Mutex
	isKnown     bool
	lastEventID int64
}

// gatherEvents passes new events of a submission to its readers in the background.
func (g *eventReader) gatherEvents(submissionID int64) {
	if !g.hub.HasReaders(RunTopic(submissionID)) {
		return
	}
	p := g.positionOf(submissionID)
	if !p.isReadWaiting.CompareAndSwap(false, true) {
		return
	}
	go func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.isReadWaiting.Store(false)
		ctx, cancel := context.WithTimeout(context.Background(), RequestTimeout)
		defer cancel()
		g.read(ctx, submissionID, p)
	}()
}

// read reads new events of a submission and passes them to its readers. p.mu must be held. If reading fails, it makes
// the readers read the store themselves.
func (g *eventReader) read(ctx context.Context, submissionID int64, p *readerPosition) {
	topic := RunTopic(submissionID)
	if !p.isKnown {
		newest, err := g.store.LastEventID(ctx, submissionID)
		p.isKnown, p.lastEventID = err == nil, newest
		g.hub.Publish(topic, conns.Message{})
		return
	}
	for {
		events, err := g.store.EventsSince(ctx, submissionID, p.lastEventID, eventsPerRead)
		if err != nil {
			p.isKnown = false
			g.hub.Publish(topic, conns.Message{})
			return
		}
		for _, e := range events {
			p.lastEventID = e.ID
			g.hub.Publish(topic, conns.Message{Event: &SharedEvent{RunEvent: e}})
		}
		if len(events) < eventsPerRead {
			return
		}
	}
}

// positionOf returns the position of a submission's readers. When it creates one, it deletes those of submissions
// without readers.
func (g *eventReader) positionOf(submissionID int64) *readerPosition {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.positions[submissionID] == nil {
		maps.DeleteFunc(g.positions, func(id int64, _ *readerPosition) bool { return !g.hub.HasReaders(RunTopic(id)) })
		g.positions[submissionID] = &readerPosition{}
	}
	return g.positions[submissionID]
}

// resetPositions resets all positions, because announcements may have been missed.
func (g *eventReader) resetPositions() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.positions)
}
