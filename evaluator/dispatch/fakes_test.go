package dispatch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// fakeQueue keeps the promises that the real queue makes: an attempt is in it once, and a result
// comes until it was recorded. It outlives a Dispatcher and a Recorder, as the real one does.
type fakeQueue struct {
	mu        sync.Mutex
	seen      map[string]bool
	jobs      []job.Job // not taken yet
	hints     []job.Preparation
	cancelled []string
	kicked    []string
	forgotten []string
	after     error // Publish fails with it after it has done its work
	before    error // Publish and Prepare fail with it and do nothing

	events  chan job.Event
	results chan job.Result
	beats   chan job.Heartbeat
}

func newFakeQueue() *fakeQueue {
	return &fakeQueue{
		seen: map[string]bool{}, events: make(chan job.Event, 10000), results: make(chan job.Result, 100), beats: make(chan job.Heartbeat, 100),
	}
}

func (q *fakeQueue) Publish(_ context.Context, j job.Job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.before != nil {
		return q.before
	}
	if !q.seen[j.AttemptID] {
		q.jobs = append(q.jobs, j)
	}
	q.seen[j.AttemptID] = true
	return q.after
}

func (q *fakeQueue) Prepare(p job.Preparation) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.before == nil {
		q.hints = append(q.hints, p)
	}
	return q.before
}

// hinted lists the hints since the last call, as "task device".
func (q *fakeQueue) hinted() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	var names []string
	for _, p := range q.hints {
		names = append(names, p.Name+" "+p.Device)
	}
	q.hints = nil
	return names
}

func (q *fakeQueue) Forget(_ context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forgotten = append(q.forgotten, id)
	q.jobs = slices.DeleteFunc(q.jobs, func(j job.Job) bool { return j.AttemptID == id })
	return nil
}

func (q *fakeQueue) Cancel(_ context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelled = append(q.cancelled, id)
	return nil
}

func (q *fakeQueue) Kick(worker string) { q.kicked = append(q.kicked, worker) }

// take gives the oldest job to a worker; ok is false when the queue is empty.
func (q *fakeQueue) take() (j job.Job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.jobs) == 0 {
		return j, false
	}
	j, q.jobs = q.jobs[0], q.jobs[1:]
	return j, true
}

// lose is what a deleted queue directory does.
func (q *fakeQueue) lose() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = nil
}

// forgetIDs is what else a deleted queue directory does: an attempt can be published once more.
func (q *fakeQueue) forgetIDs() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.seen)
}

func (q *fakeQueue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

func (q *fakeQueue) stopped(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.cancelled, id)
}

func (q *fakeQueue) Events(ctx context.Context, fn func(job.Event)) error {
	return each(ctx, q.events, func(e job.Event) { fn(e) })
}

func (q *fakeQueue) Heartbeats(ctx context.Context, fn func(job.Heartbeat)) error {
	return each(ctx, q.beats, func(h job.Heartbeat) { fn(h) })
}

func (q *fakeQueue) Results(ctx context.Context, fn func(context.Context, job.Result) error) error {
	return each(ctx, q.results, func(r job.Result) {
		if fn(ctx, r) != nil {
			q.results <- r
		}
	})
}

func each[T any](ctx context.Context, from chan T, fn func(T)) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case message := <-from:
			fn(message)
		}
	}
}

// watcher remembers what watchers were told, and lets a test wait for it.
type watcher struct {
	mu     sync.Mutex
	events []work.RunEvent
	boards []int64
	states []work.EvaluationState
	told   chan struct{}
}

func newWatcher() *watcher { return &watcher{told: make(chan struct{}, 1)} }

func (w *watcher) note(fn func()) {
	w.mu.Lock()
	fn()
	w.mu.Unlock()
	select {
	case w.told <- struct{}{}:
	default:
	}
}

func (w *watcher) RunEvent(e work.RunEvent) { w.note(func() { w.events = append(w.events, e) }) }

func (w *watcher) QueueChanged() { w.note(func() {}) }

func (w *watcher) BoardChanged(_ int64, _ string, change int64) {
	w.note(func() { w.boards = append(w.boards, change) })
}

func (w *watcher) EvaluationChanged(e work.Evaluation) {
	w.note(func() { w.states = append(w.states, e.State) })
}

// until waits until the condition holds, looking whenever something was told.
func (w *watcher) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-w.told:
		case <-time.After(20 * time.Millisecond): // not everything is told
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
