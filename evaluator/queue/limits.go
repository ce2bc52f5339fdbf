package queue

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// workerLimits runs requests of workers concurrently, with limits for each worker. It drops requests of a worker above
// its limits; other workers are not delayed.
type workerLimits struct {
	totalRunning *semaphore.Weighted // limits concurrent requests of all workers; waiters are served in order
	// limits concurrent requests of one worker, including those that wait for totalRunning
	maxPerWorker          int64
	maxMessages, maxBytes int // limits of one worker's pending requests

	mu              sync.Mutex
	loads           map[string]*workerLoad // pending requests of each worker, by its name
	runningRequests sync.WaitGroup
}

// workerLoad has the pending requests of one worker.
type workerLoad struct {
	runningRequests               *semaphore.Weighted
	waitingMessages, waitingBytes int
}

func newWorkerLimits(total, perWorker int64, messages, bytes int) *workerLimits {
	return &workerLimits{
		totalRunning: semaphore.NewWeighted(total),
		maxPerWorker: perWorker,
		maxMessages:  messages,
		maxBytes:     bytes,
		loads:        map[string]*workerLoad{},
	}
}

// runWithinLimits runs answer in a goroutine when the limits allow it, unless ctx ends first. It returns false without
// running answer if the worker has too many pending requests.
func (f *workerLimits) runWithinLimits(ctx context.Context, worker string, size int, answer func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.loads[worker]
	if l == nil {
		l = &workerLoad{runningRequests: semaphore.NewWeighted(f.maxPerWorker)}
		f.loads[worker] = l
	}
	// The only request of a worker is accepted even if it exceeds maxBytes, because a result can have MaxMessage bytes.
	if l.waitingMessages > 0 && (l.waitingMessages >= f.maxMessages || l.waitingBytes+size > f.maxBytes) {
		return false
	}
	l.waitingMessages, l.waitingBytes = l.waitingMessages+1, l.waitingBytes+size
	f.runningRequests.Go(func() {
		defer f.release(worker, l, size)
		if l.runningRequests.Acquire(ctx, 1) != nil {
			return
		}
		defer l.runningRequests.Release(1)
		if f.totalRunning.Acquire(ctx, 1) != nil {
			return
		}
		defer f.totalRunning.Release(1)
		answer()
	})
	return true
}

func (f *workerLimits) release(worker string, l *workerLoad, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.waitingMessages, l.waitingBytes = l.waitingMessages-1, l.waitingBytes-size; l.waitingMessages == 0 {
		delete(f.loads, worker)
	}
}
