package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"warpboard/evaluator/job"
)

const (
	// Bounds for events that wait while the site is away; further ones are dropped. Events are hints, and a stage keeps the
	// output.
	outboxEvents, outboxBytes = 10_000, 2 * MaxMessage
	// A request holds up to so much, and at least one event.
	requestBytes = 1 << 20
	// flushPause is the least time from one flush to the next: a flood of log lines then costs a hundred transactions a second at
	// most, and a single event none of its latency.
	flushPause = 10 * time.Millisecond
)

// outbox holds the events that are not stored yet, in their order. flush sends them.
type outbox struct {
	mu      sync.Mutex
	waiting []json.RawMessage
	bytes   int
	filled  chan struct{}       // holds a signal while something waits
	sending *semaphore.Weighted // held by the one who sends
}

func newOutbox() *outbox {
	return &outbox{filled: make(chan struct{}, 1), sending: semaphore.NewWeighted(1)}
}

func (o *outbox) add(e job.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("queue: encode an event: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(data) > job.MaxEvent || len(o.waiting) >= outboxEvents || o.bytes+len(data) > outboxBytes {
		return fmt.Errorf("queue: an event of %d bytes does not fit, or beside those that wait", len(data))
	}
	o.waiting, o.bytes = append(o.waiting, data), o.bytes+len(data)
	select {
	case o.filled <- struct{}{}:
	default:
	}
	return nil
}

// first is the first events that wait, as many as a request holds.
func (o *outbox) first() []json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for size := 0; n < len(o.waiting) && n < mostEvents && (n == 0 || size+len(o.waiting[n]) < requestBytes); n++ {
		size += len(o.waiting[n])
	}
	return o.waiting[:n]
}

// done drops the first n events.
func (o *outbox) done(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, data := range o.waiting[:n] {
		o.bytes -= len(data)
	}
	o.waiting = append([]json.RawMessage(nil), o.waiting[n:]...) // a slice of the rest would keep the memory of the first
}

// flush sends the events that wait now. After an error some of them still wait.
func (c *Conn) flush(ctx context.Context) error {
	if err := c.outbox.sending.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.outbox.sending.Release(1)
	c.outbox.mu.Lock()
	left := len(c.outbox.waiting)
	c.outbox.mu.Unlock()
	for left > 0 {
		events := c.outbox.first()
		err := c.order(ctx, askEvents, events)
		if errors.Is(err, errNever) {
			c.log.Warn("events are dropped", "events", len(events), "err", err)
		} else if err != nil {
			return err
		}
		c.outbox.done(len(events))
		left -= len(events)
	}
	return nil
}

// deliver sends events as they come, until ctx ends.
func (c *Conn) deliver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.outbox.filled:
		}
		for again := askAgain; c.flush(ctx) != nil && pause(ctx, again) == nil; {
			again = min(2*again, askAgainMost)
		}
		_ = pause(ctx, flushPause)
	}
}
