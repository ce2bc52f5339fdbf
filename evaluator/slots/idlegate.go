package slots

import (
	"context"
	"sync"
)

// IdleGate lets background work run while no job needs the processors: none is being built, and none runs on a CPU, whose
// times it would spoil. The zero value is ready.
type IdleGate struct {
	turn    sync.Mutex // held by the work under way, whose context ends when all waiting callers have left
	mu      sync.Mutex
	jobs    int
	idle    chan struct{}      // closed when the last job ends; nil while there is none
	key     string             // the key of the work under way
	preempt context.CancelFunc // ends the work under way; nil while there is none
}

// Busy notes that a job needs the processors until it calls release, which it may do more than once. Work
// under way ends, unless it has the job's own key: then the job waits for nothing else.
func (g *IdleGate) Busy(key string) (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobs++; g.jobs == 1 {
		g.idle = make(chan struct{})
	}
	if g.preempt != nil && g.key != key {
		g.preempt()
	}
	return sync.OnceFunc(g.release)
}

func (g *IdleGate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.jobs--; g.jobs == 0 {
		close(g.idle)
		g.idle = nil
	}
}

// Do does work for a key when no job needs the processors, and again when it was preempted. One piece of
// work at a time. The error is the work's, or that ctx ended.
func (g *IdleGate) Do(ctx context.Context, key string, work func(context.Context) error) error {
	for {
		preempted, err := g.try(ctx, key, work)
		if err == nil || !preempted {
			return err
		}
	}
}

// try does the work once, and reports whether it was cut short.
func (g *IdleGate) try(ctx context.Context, key string, work func(context.Context) error) (preempted bool, err error) {
	g.turn.Lock()
	defer g.turn.Unlock()
	working, end := g.begin(ctx, key)
	if working == nil {
		return false, ctx.Err()
	}
	defer end()
	err = work(working)
	return working.Err() != nil && ctx.Err() == nil, err
}

// begin waits until no job needs the processors. The context is nil when ctx ended first.
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
	working, cancel := context.WithCancel(ctx)
	g.key, g.preempt = key, cancel
	return working, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.preempt = nil
		cancel()
	}
}
