package slots

import (
	"context"
	"errors"
	"sync"
)

// ErrPreempted is the cause of the context of background work that a job has interrupted.
var ErrPreempted = errors.New("a job needs the processors")

// IdleGate runs background work while no job needs the processors: while none is being built and none runs on a CPU,
// whose times the work would disturb. The zero value is ready to use.
type IdleGate struct {
	workMutex sync.Mutex // held during the work
	mu        sync.Mutex
	jobCount  int
	idle      chan struct{}           // closed when the last job ends; nil while there is none
	key       string                  // key of the work in progress
	preempt   context.CancelCauseFunc // ends the work in progress; nil if there is none
}

// Busy marks the processors as needed until release is called; later calls of release do nothing. It interrupts
// background work, except work with the same key, whose result the job needs.
func (g *IdleGate) Busy(key string) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobCount++; g.jobCount == 1 {
		g.idle = make(chan struct{})
	}
	if g.preempt != nil && g.key != key {
		g.preempt(ErrPreempted)
	}
	return sync.OnceFunc(g.release)
}

func (g *IdleGate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobCount--; g.jobCount == 0 {
		close(g.idle)
		g.idle = nil
	}
}

// Do runs work when no job needs the processors, and repeats it if it was interrupted. One piece of work runs at a
// time. The error comes from work or ctx.
func (g *IdleGate) Do(ctx context.Context, key string, work func(context.Context) error) error {
	for {
		preempted, err := g.try(ctx, key, work)
		if err == nil || !preempted {
			return err
		}
	}
}

// try runs the work once and reports whether it was interrupted.
func (g *IdleGate) try(ctx context.Context, key string, work func(context.Context) error) (preempted bool, err error) {
	g.workMutex.Lock()
	defer g.workMutex.Unlock()
	working, end := g.begin(ctx, key)
	if working == nil {
		return false, ctx.Err()
	}
	defer end()
	err = work(working)
	return working.Err() != nil && ctx.Err() == nil, err
}

// begin waits until no job needs the processors. It returns a nil context if ctx ended first.
func (g *IdleGate) begin(ctx context.Context, key string) (working context.Context, end func()) {
	for {
		g.mu.Lock()
		idle := g.idle
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
	g.key, g.preempt = key, cancel
	return working, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.preempt = nil
		cancel(nil)
	}
}
