package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"warpboard/evaluator/job"
)

const (
	// Of one worker: some seconds of a program that prints without a pause. Events are hints, and its stage keeps the
	// output.
	eventsWaiting = 10_000
	eventBytes    = 2 * MaxMessage
)

// Events calls fn with every event, those of one worker in their order, until ctx ends; then it
// returns nil. Events that arrive while nobody listens are gone, and those of a worker that sends faster
// than they can be stored.
func (q *Queue) Events(ctx context.Context, fn func(job.Event)) error {
	return listen(ctx, q, eventPrefix, newFair(eventsWaiting, eventBytes, &q.dropped), func(worker string, e job.Event) {
		e.Worker = worker
		fn(e)
	})
}

// Heartbeats calls fn with heartbeats until ctx ends; then it returns nil. Only the last one of a worker
// counts.
func (q *Queue) Heartbeats(ctx context.Context, fn func(job.Heartbeat)) error {
	return listen(ctx, q, beatPrefix, newFair(1, MaxMessage, &counter{log: slog.New(slog.DiscardHandler)}), func(worker string, b job.Heartbeat) {
		b.Worker = worker
		fn(b)
	})
}

// listen decodes the messages under prefix. The worker's name comes from the subject, which the
// server's permissions guard, and not from the message. Nothing is ever answered.
func listen[T any](ctx context.Context, q *Queue, prefix string, waiting *fair, fn func(worker string, message T)) error {
	// A plain subscription: every process of a site with several gets every event and heartbeat, and the database drops
	// repetitions.
	sub, err := q.nc.Subscribe(prefix+"*", func(m *nats.Msg) {
		if worker := name(strings.TrimPrefix(m.Subject, prefix)); worker != "" {
			waiting.put(worker, m)
		}
	})
	if err != nil {
		return fmt.Errorf("queue: subscribe to %s*: %w", prefix, err)
	}
	for {
		worker, m, ok := waiting.take(ctx)
		if !ok {
			break
		}
		var message T
		if err := json.Unmarshal(m.Data, &message); err != nil {
			q.drop("a message", "subject", m.Subject, "err", err)
			continue
		}
		// One goroutine calls fn for all workers, message by message: what fn keeps needs no lock, and a slow fn delays
		// everybody.
		fn(worker, message)
	}
	if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		return fmt.Errorf("queue: unsubscribe from %s*: %w", prefix, err)
	}
	return nil
}
