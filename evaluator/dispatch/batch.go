package dispatch

import (
	"context"
	"sync"
	"time"

	"warpboard/evaluator/job"
)

const (
	// flushPause is the least time between two batches: a flood of log lines then costs a hundred
	// transactions a second at most, and a single event none of its latency.
	flushPause = 10 * time.Millisecond
	// batchLimit is how many events may wait; who adds one more has to store them first.
	// The listener that stores them holds up the events of all workers: that is the brake.
	batchLimit = 5000
	// flushLimit bounds how long storing a batch may take, and so how long Run stays at its end.
	flushLimit = 5 * time.Second
)

// batch holds the events that are received and not stored yet.
// mu guards waiting, for a moment only; storing is taken first where both are. add is called by the listener's goroutine,
// flush by three: flushEvents, the listener when the batch is full, and whoever records a result.
type batch struct {
	mu      sync.Mutex
	waiting []job.Event
	filled  chan struct{}
	// storing is held while a batch is stored, so that batches keep their order: AppendEvents takes an event with a smaller
	// number than the last stored one for a repetition, and drops it.
	storing *sync.Mutex
}

func newBatch() batch { return batch{filled: make(chan struct{}, 1), storing: new(sync.Mutex)} }

func (b *batch) add(e job.Event) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, e)
	select {
	case b.filled <- struct{}{}:
	default:
	}
	return len(b.waiting) >= batchLimit
}

func (b *batch) takeAll() []job.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.waiting
	b.waiting = nil
	return events
}

func (r *Recorder) event(ctx context.Context, e job.Event) {
	if r.events.add(e) {
		r.flush(ctx)
	}
}

// flushEvents stores events as they come, until ctx ends.
func (r *Recorder) flushEvents(ctx context.Context) error {
	pause := time.NewTimer(flushPause)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.events.filled:
		}
		r.flush(ctx)
		pause.Reset(flushPause)
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
	}
}

// flush stores all events received so far. Events are hints: when storing fails they are dropped,
// and the result will tell the same.
func (r *Recorder) flush(ctx context.Context) {
	// What was received is stored also while Run ends.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer stop()
	r.events.storing.Lock()
	defer r.events.storing.Unlock()
	waiting := r.events.takeAll()
	out, stale, err := r.store.Work.AppendEvents(ctx, waiting)
	// The events are gone, and their seq is not stored: later ones are taken, since a gap in the numbers is allowed.
	if err != nil {
		r.log.Error("storing events", "events", len(waiting), "err", err)
		return
	}
	announce(r.notify, out)
	r.cancel(ctx, stale)
}
