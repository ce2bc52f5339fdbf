package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"warpboard/evaluator/job"
)

const (
	// Of one worker: some seconds of a program that prints without a pause. Events are hints, and its stage keeps the
	// output.
	eventsWaiting = 10_000
	eventBytes    = 2 * MaxMessage
	// In bytes a second. A worker with 1,024 slots sends 350 kB a second, one with eight slots 3 kB. Each heartbeat counts for
	// at least beatLeast.
	beatRate, beatBurst, beatLeast = 512 << 10, 2 * job.MaxHeartbeat, 4 << 10
)

// Events calls fn with every event, those of one worker in their order, until ctx ends; then it
// returns nil. Events that arrive while nobody listens are gone, and those of a worker that sends faster
// than they can be stored.
func (q *Queue) Events(ctx context.Context, fn func(job.Event)) error {
	waiting := newFair(eventsWaiting, eventBytes, &q.dropped)
	put := func(worker string, m *nats.Msg) {
		if len(m.Data) > job.MaxEvent {
			q.drop("an event that is too large", "worker", worker, "bytes", len(m.Data))
			return
		}
		waiting.put(worker, m)
	}
	return listen(ctx, q, eventPrefix, put, waiting, func(worker string, e job.Event) {
		e.Worker = worker
		fn(e)
	})
}

// Heartbeats calls fn with heartbeats until ctx ends; then it returns nil. Only the last one of a worker
// counts, and those beyond the rate of a worker are dropped.
func (q *Queue) Heartbeats(ctx context.Context, fn func(job.Heartbeat)) error {
	waiting, rates := newFair(1, MaxMessage, &counter{log: slog.New(slog.DiscardHandler)}), map[string]*rate.Limiter{}
	put := func(worker string, m *nats.Msg) { // the subscription's goroutine calls it, and no other
		of := rates[worker]
		if of == nil {
			of = rate.NewLimiter(beatRate, beatBurst)
			rates[worker] = of
		}
		if size := len(m.Data); size > job.MaxHeartbeat || !of.AllowN(time.Now(), max(size, beatLeast)) {
			q.drop("a heartbeat that is too large or comes too soon", "worker", worker, "bytes", size)
			return
		}
		waiting.put(worker, m)
	}
	return listen(ctx, q, beatPrefix, put, waiting, func(worker string, b job.Heartbeat) {
		b.Worker = worker
		fn(b)
	})
}

// listen decodes the messages under prefix that put has put into waiting, and drops those that are beyond their bounds. The
// worker's name comes from the subject, which the server's permissions guard, and not from the message. Nothing is ever answered.
func listen[T interface{ Check() error }](ctx context.Context, q *Queue, prefix string, put func(worker string, m *nats.Msg), waiting *fair, fn func(worker string, message T)) error {
	// A plain subscription: every process of a site with several gets every event and heartbeat, and the database drops
	// repetitions.
	sub, err := q.nc.Subscribe(prefix+"*", func(m *nats.Msg) {
		if worker := name(strings.TrimPrefix(m.Subject, prefix)); worker != "" {
			put(worker, m)
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
		if err := decode(m.Data, &message); err != nil {
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

// decode reads a worker's message, which must keep its bounds.
func decode[T interface{ Check() error }](data []byte, message *T) error {
	if err := job.CheckValues(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, message); err != nil {
		return err
	}
	return (*message).Check()
}
