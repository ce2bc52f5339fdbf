package queue

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// fair runs requests of workers concurrently, with a limit for each worker. If a worker exceeds its limits, its
// requests are dropped; other workers are not delayed.
type fair struct {
	clerks          *semaphore.Weighted // limits concurrent requests of all workers; waiters are served in order
	turns           int64               // limits concurrent requests of one worker, including those waiting for clerks
	messages, bytes int                 // limits of one worker's pending requests

	mu      sync.Mutex
	lines   map[string]*line // by worker
	running sync.WaitGroup
}

// line holds one worker's pending requests.
type line struct {
	turn            *semaphore.Weighted
	messages, bytes int
}

func newFair(clerks, turns int64, messages, bytes int) *fair {
	return &fair{clerks: semaphore.NewWeighted(clerks), turns: turns, messages: messages, bytes: bytes, lines: map[string]*line{}}
}

// do runs answer in a goroutine when the limits allow, unless ctx ends first. It returns false, without running it, if
// the worker has too many pending requests.
func (f *fair) do(ctx context.Context, worker string, size int, answer func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lines[worker]
	if l == nil {
		l = &line{turn: semaphore.NewWeighted(f.turns)}
		f.lines[worker] = l
	}
	// A worker's only message is accepted even if it exceeds bytes: a result can have MaxMessage.
	if l.messages > 0 && (l.messages >= f.messages || l.bytes+size > f.bytes) {
		return false
	}
	l.messages, l.bytes = l.messages+1, l.bytes+size
	f.running.Go(func() {
		defer f.left(worker, l, size)
		if l.turn.Acquire(ctx, 1) != nil {
			return
		}
		defer l.turn.Release(1)
		if f.clerks.Acquire(ctx, 1) != nil {
			return
		}
		defer f.clerks.Release(1)
		answer()
	})
	return true
}

func (f *fair) left(worker string, l *line, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.messages, l.bytes = l.messages-1, l.bytes-size; l.messages == 0 {
		delete(f.lines, worker)
	}
}
