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
	// Limits for the events that wait while the site is unreachable. Additional events are dropped. They are only
	// hints, and the result contains the output.
	maxOutboxEvents, maxOutboxBytes = 10_000, 2 * MaxMessage
	// maxRequestBytes is the size above which no event is added to a request, which has at least one event.
	maxRequestBytes = 1 << 20
	// minFlushInterval is the minimum time between two flushes. Many log lines thus cause at most a hundred
	// transactions per second, and a single event is sent at once.
	minFlushInterval = 10 * time.Millisecond
)

// eventOutbox has the events that the site has not confirmed, in order. Conn.flushEvents sends them.
type eventOutbox struct {
	mu            sync.Mutex
	waitingEvents []json.RawMessage
	waitingBytes  int
	eventAdded    chan struct{}       // signaled when an event is added
	flushTurn     *semaphore.Weighted // allows one flush at a time
}

func newOutbox() *eventOutbox {
	return &eventOutbox{eventAdded: make(chan struct{}, 1), flushTurn: semaphore.NewWeighted(1)}
}

func (o *eventOutbox) addEvent(e job.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("queue: encode an event: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(data) > job.MaxEventBytes || len(o.waitingEvents) >= maxOutboxEvents ||
		o.waitingBytes+len(data) > maxOutboxBytes {
		return fmt.Errorf("queue: an event of %d bytes does not fit, or beside those that wait", len(data))
	}
	o.waitingEvents, o.waitingBytes = append(o.waitingEvents, data), o.waitingBytes+len(data)
	select {
	case o.eventAdded <- struct{}{}:
	default:
	}
	return nil
}

// oldestEvents returns as many of the oldest events as fit into one request.
func (o *eventOutbox) oldestEvents() []json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for size := 0; n < len(o.waitingEvents) && n < maxBatchEvents && (n == 0 || size+len(o.waitingEvents[n]) < maxRequestBytes); n++ {
		size += len(o.waitingEvents[n])
	}
	return o.waitingEvents[:n]
}

// dropOldest drops the first n events.
func (o *eventOutbox) dropOldest(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, data := range o.waitingEvents[:n] {
		o.waitingBytes -= len(data)
	}
	// The remaining events are copied, so that the memory of the removed ones can be freed.
	o.waitingEvents = append([]json.RawMessage(nil), o.waitingEvents[n:]...)
}

// flushEvents sends the events that are waiting. After an error some of them remain.
func (c *Conn) flushEvents(ctx context.Context) error {
	if err := c.outbox.flushTurn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.outbox.flushTurn.Release(1)
	c.outbox.mu.Lock()
	left := len(c.outbox.waitingEvents)
	c.outbox.mu.Unlock()
	for left > 0 {
		events := c.outbox.oldestEvents()
		err := c.sendAndDrop(ctx, eventsRequestName, events)
		if errors.Is(err, errRefusedPermanently) {
			c.log.Warn("events are dropped", "events", len(events), "err", err)
		} else if err != nil {
			return err
		}
		c.outbox.dropOldest(len(events))
		left -= len(events)
	}
	return nil
}

// deliverEvents sends events as they are added, until ctx ends.
func (c *Conn) deliverEvents(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.outbox.eventAdded:
		}
		for again := minRetryDelay; c.flushEvents(ctx) != nil && sleepContext(ctx, again) == nil; {
			again = min(2*again, maxRetryDelay)
		}
		_ = sleepContext(ctx, minFlushInterval)
	}
}
