package queue

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// fair holds what workers sent until the site deals with it: one message of each worker in turn. A worker
// that sends more than its share loses its own oldest messages, and holds up no one else.
//
// States of a worker: it has a line and a place in turns, or neither. put makes both, next drops both with the last
// message. There is one putter (the subscription's goroutine) and any number of takers; mu guards waiting and turns.
type fair struct {
	messages, bytes int // the most that wait of one worker
	dropped         *tally
	// It holds one signal: "there may be something". A taker that finds nothing waits again.
	filled chan struct{}

	mu      sync.Mutex
	waiting map[string]*line
	turns   []string // workers with messages, whose turn it is first
}

// line is what waits of one worker.
type line struct {
	messages []*nats.Msg
	bytes    int
}

func newFair(messages, bytes int, dropped *tally) *fair {
	return &fair{messages: messages, bytes: bytes, dropped: dropped, filled: make(chan struct{}, 1), waiting: map[string]*line{}}
}

// put never blocks: NATS drops messages of everyone while it waits for its caller.
func (f *fair) put(worker string, m *nats.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.waiting[worker]
	if l == nil {
		l = &line{}
		f.waiting[worker] = l
		f.turns = append(f.turns, worker)
	}
	l.messages, l.bytes = append(l.messages, m), l.bytes+len(m.Data)
	// One message always stays, even if it alone is larger than bytes: a result of MaxMessage must come through.
	for len(l.messages) > 1 && (len(l.messages) > f.messages || l.bytes > f.bytes) {
		l.pop()
		f.dropped.count("a message of a worker that sends too many", "worker", worker)
	}
	f.signal()
}

func (l *line) pop() *nats.Msg {
	m := l.messages[0]
	l.messages[0] = nil
	l.messages, l.bytes = l.messages[1:], l.bytes-len(m.Data)
	return m
}

// tally counts what should not happen, and logs the first ones: who causes many would fill the log.
type tally struct {
	n   atomic.Int64
	log *slog.Logger
}

const countedLogged = 100

func (c *tally) count(what string, about ...any) {
	if n := c.n.Add(1); n <= countedLogged || n%countedLogged == 0 {
		c.log.Warn(what, append(about, "so_far", n)...)
	}
}

// signal wakes one taker, which wakes the next while more is left.
func (f *fair) signal() {
	select {
	case f.filled <- struct{}{}:
	default:
	}
}

// take waits for the next message; ok is false when ctx ends first.
func (f *fair) take(ctx context.Context) (worker string, m *nats.Msg, ok bool) {
	for {
		select {
		case <-ctx.Done():
			return "", nil, false
		case <-f.filled:
		}
		if worker, m, ok = f.next(); ok {
			return worker, m, true
		}
	}
}

func (f *fair) next() (worker string, m *nats.Msg, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.turns) == 0 {
		return "", nil, false
	}
	worker, f.turns = f.turns[0], f.turns[1:]
	l := f.waiting[worker]
	m = l.pop()
	if len(l.messages) > 0 {
		// To the end of the row, also if this message was the only one of its worker for hours: no one jumps ahead by
		// being quiet.
		f.turns = append(f.turns, worker)
	} else {
		delete(f.waiting, worker)
	}
	if len(f.turns) > 0 {
		f.signal()
	}
	return worker, m, true
}
