package dispatch

import (
	"slices"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/queue"
	"warpboard/internal/test/tier"
	"warpboard/models/work"
)

// fakeQueue records the site's messages.
type fakeQueue struct {
	mu        sync.Mutex
	announced []string // devices for which work was announced
	cancelled []string
	kicked    []string
	largest   int // result of MaxMessage
}

func newFakeQueue() *fakeQueue { return &fakeQueue{largest: queue.MaxMessage} }

func (q *fakeQueue) AnnounceWork(device string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.announced = append(q.announced, device)
	return nil
}

func (q *fakeQueue) AnnounceCancellation(id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelled = append(q.cancelled, id)
	return nil
}

func (q *fakeQueue) DisconnectWorker(worker string) { q.kicked = append(q.kicked, worker) }

func (q *fakeQueue) MaxMessage() int { return q.largest }

// hasWork reports whether work was announced for a device since the last call.
func (q *fakeQueue) hasWork(device string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer func() { q.announced = nil }()
	return slices.Contains(q.announced, device)
}

func (q *fakeQueue) stopped(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.cancelled, id)
}

// watcher is a Notifier that counts notifications, and lets a test wait for one.
type watcher struct {
	mu      sync.Mutex
	events  []work.RunEvent
	boards  []int64
	states  []work.EvaluationState
	changed chan struct{}
}

func newWatcher() *watcher { return &watcher{changed: make(chan struct{}, 1)} }

func (w *watcher) note(fn func()) {
	w.mu.Lock()
	fn()
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
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

// until waits until the condition holds, checking it after each notification.
func (w *watcher) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.After(tier.Patience())
	for !ok() {
		select {
		case <-w.changed:
		case <-time.After(20 * time.Millisecond): // some changes cause no notification
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
