package slots

import (
	"context"
	"errors"
	"sync"
)

// ErrPreempted is the cause of the context of background work that a job has interrupted.
var ErrPreempted = errors.New("a job needs the processors")

// IdleScheduler runs background work while no job needs the processors: while none is being built and none runs on a
// CPU, whose times the work would disturb. The zero value is ready to use.
type IdleScheduler struct {
	workMutex   sync.Mutex // held during the work
	mu          sync.Mutex
	busyCount   int
	becameIdle  chan struct{}           // closed when the last job ends; nil while there is none
	workKey     string                  // key of the work in progress
	preemptWork context.CancelCauseFunc // ends the work in progress; nil if there is none
}

// MarkBusy marks the processors as needed until release is called; later calls of release do nothing. It interrupts
// background work, except work with the same key, whose result the job needs.
func (g *IdleScheduler) MarkBusy(key string) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busyCount++; g.busyCount == 1 {
		g.becameIdle = make(chan struct{})
	}
	if g.preemptWork != nil && g.workKey != key {
		g.preemptWork(ErrPreempted)
	}
	return sync.OnceFunc(g.markJobDone)
}

func (g *IdleScheduler) markJobDone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busyCount--; g.busyCount == 0 {
		close(g.becameIdle)
		g.becameIdle = nil
	}
}

// RunWhenIdle runs work when no job needs the processors, and repeats it if it was interrupted. One piece of work runs
// at a time. The error comes from work or ctx.
func (g *IdleScheduler) RunWhenIdle(ctx context.Context, key string, work func(context.Context) error) error {
	for {
		preempted, err := g.tryWork(ctx, key, work)
		if err == nil || !preempted {
			return err
		}
	}
}

// tryWork runs the work once and reports whether it was interrupted.
func (g *IdleScheduler) tryWork(ctx context.Context, key string, work func(context.Context) error) (preempted bool,
	err error) {
	g.workMutex.Lock()
	defer g.workMutex.Unlock()
	working, end := g.waitUntilIdle(ctx, key)
	if working == nil {
		return false, ctx.Err()
	}
	defer end()
	err = work(working)
	return working.Err() != nil && ctx.Err() == nil, err
}

// waitUntilIdle waits until no job needs the processors. It returns a nil context if ctx ended first.
func (g *IdleScheduler) waitUntilIdle(ctx context.Context, key string) (working context.Context, end func()) {
	for {
		g.mu.Lock()
		idle := g.becameIdle
		if idle == nil {
			break
		}
		g.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
			return nil, nil
		}
	}
	defer g.mu.Unlock()
	working, cancel := context.WithCancelCause(ctx)
	g.workKey, g.preemptWork = key, cancel
	return working, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.preemptWork = nil
		cancel(nil)
	}
}
