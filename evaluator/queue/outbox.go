package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"warpboard/evaluator/job"
)

const (
	// Bounds for events that wait while the site is away; further ones are dropped. Events are hints, and a stage keeps the
	// output.
	outboxEvents, outboxBytes = 10_000, 2 * MaxMessage
	// A request holds up to so much, and at least one event.
	requestBytes = 1 << 20
	// flushPause is the least time between two requests: a flood of log lines then costs a hundred transactions a second at
	// most, and a single event none of its latency.
	flushPause = 10 * time.Millisecond
)

// outbox holds the events that are not stored yet, in their order. One goroutine sends them: deliver.
type outbox struct {
	mu      sync.Mutex
	waiting []json.RawMessage
	bytes   int
	added   int64         // since the connection began
	sent    int64         // of these, stored or given up
	moved   chan struct{} // closed and made again when sent grows
	filled  chan struct{} // holds a signal while something waits
}

func newOutbox() *outbox {
	return &outbox{moved: make(chan struct{}), filled: make(chan struct{}, 1)}
}

func (o *outbox) add(e job.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("queue: encode an event: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(data) > job.MaxEvent || len(o.waiting) >= outboxEvents || o.bytes+len(data) > outboxBytes {
		return fmt.Errorf("queue: an event of %d bytes: %w", len(data), ErrTooLarge)
	}
	o.waiting, o.bytes, o.added = append(o.waiting, data), o.bytes+len(data), o.added+1
	o.signal()
	return nil
}

func (o *outbox) signal() {
	select {
	case o.filled <- struct{}{}:
	default:
	}
}

// first is the body of a request with the first events that wait, and their number.
func (o *outbox) first() (body []byte, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := bytes.NewBufferString("[")
	for n < len(o.waiting) && n < mostEvents && (n == 0 || b.Len()+len(o.waiting[n]) < requestBytes) {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(o.waiting[n])
		n++
	}
	b.WriteByte(']')
	return b.Bytes(), n
}

// done drops the first n events.
func (o *outbox) done(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, data := range o.waiting[:n] {
		o.bytes -= len(data)
	}
	o.waiting, o.sent = append([]json.RawMessage(nil), o.waiting[n:]...), o.sent+int64(n)
	close(o.moved)
	o.moved = make(chan struct{})
	if len(o.waiting) > 0 {
		o.signal()
	}
}

// emptied waits until the earlier events are stored, or ctx ends.
func (o *outbox) emptied(ctx context.Context) {
	o.mu.Lock()
	upTo := o.added
	o.mu.Unlock()
	for {
		o.mu.Lock()
		reached, moved := o.sent >= upTo, o.moved
		o.mu.Unlock()
		if reached {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

// deliver sends events until ctx ends, each request until it is answered.
func (c *Conn) deliver(ctx context.Context) {
	for again := askAgain; ; {
		select {
		case <-ctx.Done():
			return
		case <-c.outbox.filled:
		}
		body, n := c.outbox.first()
		if n == 0 {
			continue
		}
		err := c.order(ctx, askEvents, body)
		var no refusal
		if err != nil && !errors.As(err, &no) {
			c.log.Debug("events not stored yet", "events", n, "err", err)
			c.outbox.signal()
			_ = pause(ctx, again)
			again = min(2*again, askAgainMost)
			continue
		}
		if err != nil {
			c.log.Warn("events are dropped", "events", n, "err", err)
		}
		again = askAgain
		c.outbox.done(n)
		_ = pause(ctx, flushPause)
	}
}
