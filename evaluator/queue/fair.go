package queue

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// fair has requests of workers carried out: some at the same time, of all workers, and few of one worker. A worker that sends
// more than its share loses what it sends, and delays no one else.
type fair struct {
	clerks          *semaphore.Weighted // how many are carried out at the same time; those that wait come in order
	turns           int64               // of one worker, carried out or waiting for a clerk; further ones wait behind these
	messages, bytes int                 // the most of one worker

	mu      sync.Mutex
	lines   map[string]*line // by worker
	running sync.WaitGroup
}

// line is what is carried out or waits of one worker.
type line struct {
	turn            *semaphore.Weighted
	messages, bytes int
}

func newFair(clerks, turns int64, messages, bytes int) *fair {
	return &fair{clerks: semaphore.NewWeighted(clerks), turns: turns, messages: messages, bytes: bytes, lines: map[string]*line{}}
}

// do has a request carried out unless ctx ends before its turn, and does not wait for that. It is false if too many of the
// worker wait.
func (f *fair) do(ctx context.Context, worker string, size int, answer func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lines[worker]
	if l == nil {
		l = &line{turn: semaphore.NewWeighted(f.turns)}
		f.lines[worker] = l
	}
	// A worker's only message fits, even one larger than bytes: a result of MaxMessage must come through.
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
