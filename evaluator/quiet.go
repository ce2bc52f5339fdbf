package evaluator

import (
	"context"
	"sync"
)

// quiet lets work that can wait go on while no job needs the processors: none is being built, and none
// runs on a CPU, whose times it would spoil. The zero value is ready.
type quiet struct {
	mu      sync.Mutex
	jobs    int
	free    chan struct{}      // closed when the last job ends; nil while there is none
	task    string             // what the work under way is for
	giveWay context.CancelFunc // ends the work under way; nil while there is none
}

// enter notes that a job needs the processors until it leaves, which it may do more than once. Work
// under way ends, unless it is for the job's own task: then the job waits for nothing else.
func (q *quiet) enter(task string) (leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.jobs++; q.jobs == 1 {
		q.free = make(chan struct{})
	}
	if q.giveWay != nil && q.task != task {
		q.giveWay()
	}
	return sync.OnceFunc(q.leave)
}

func (q *quiet) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.jobs--; q.jobs == 0 {
		close(q.free)
		q.free = nil
	}
}

// do does work for a task when no job needs the processors, and again when it had to give way. One
// piece of work at a time. The error is the work's, or that ctx ended.
func (q *quiet) do(ctx context.Context, task string, work func(context.Context) error) error {
	for {
		gaveWay, err := q.try(ctx, task, work)
		if err == nil || !gaveWay {
			return err
		}
	}
}

// try does the work once, and tells whether it was cut short.
func (q *quiet) try(ctx context.Context, task string, work func(context.Context) error) (gaveWay bool, err error) {
	working, end := q.begin(ctx, task)
	if working == nil {
		return false, ctx.Err()
	}
	defer end()
	err = work(working)
	return working.Err() != nil && ctx.Err() == nil, err
}

// begin waits until no job needs the processors. The context is nil when ctx ended first.
func (q *quiet) begin(ctx context.Context, task string) (working context.Context, end func()) {
	for {
		q.mu.Lock()
		busy := q.free
		if busy == nil {
			break
		}
		q.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, nil
		}
	}
	defer q.mu.Unlock()
	working, cancel := context.WithCancel(ctx)
	q.task, q.giveWay = task, cancel
	return working, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.giveWay = nil
		cancel()
	}
}
