package queue

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// workerLimits runs requests of workers concurrently, with limits for each worker. It drops requests of a worker above
// its limits; other workers are not delayed.
type workerLimits struct {
	total           *semaphore.Weighted // limits concurrent requests of all workers; waiters are served in order
	perWorker       int64               // limits concurrent requests of one worker, including those waiting for total
	messages, bytes int                 // limits of one worker's pending requests

	mu      sync.Mutex
	loads   map[string]*workerLoad // by worker
	running sync.WaitGroup
}

// workerLoad has the pending requests of one worker.
type workerLoad struct {
	running         *semaphore.Weighted
	messages, bytes int
}

func newWorkerLimits(total, perWorker int64, messages, bytes int) *workerLimits {
	return &workerLimits{
		total:     semaphore.NewWeighted(total),
		perWorker: perWorker,
		messages:  messages,
		bytes:     bytes,
		loads:     map[string]*workerLoad{},
	}
}

// runWithinLimits runs answer in a goroutine when the limits allow it, unless ctx ends first. It returns false without
// running answer if the worker has too many pending requests.
func (f *workerLimits) runWithinLimits(ctx context.Context, worker string, size int, answer func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.loads[worker]
	if l == nil {
		l = &workerLoad{running: semaphore.NewWeighted(f.perWorker)}
		f.loads[worker] = l
	}
	// The only request of a worker is accepted even if it exceeds bytes, because a result can have MaxMessage.
	if l.messages > 0 && (l.messages >= f.messages || l.bytes+size > f.bytes) {
		return false
	}
	l.messages, l.bytes = l.messages+1, l.bytes+size
	f.running.Go(func() {
		defer f.release(worker, l, size)
		if l.running.Acquire(ctx, 1) != nil {
			return
		}
		defer l.running.Release(1)
		if f.total.Acquire(ctx, 1) != nil {
			return
		}
		defer f.total.Release(1)
		answer()
	})
	return true
}

func (f *workerLimits) release(worker string, l *workerLoad, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.messages, l.bytes = l.messages-1, l.bytes-size; l.messages == 0 {
		delete(f.loads, worker)
	}
}
