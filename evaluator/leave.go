package evaluator

import (
	"context"
	"sync"
	"time"
)

// Leaving is when a worker ends by itself. What it has by then it ends in peace: only a stop signal hurries it.
type Leaving struct {
	Once bool          // after one job; slots that get theirs at the same moment do theirs, too
	Idle time.Duration // after so long without a job; 0: never
}

// leaveWhenIdle calls leave after the worker had nothing to do for long enough.
func (w *Worker) leaveWhenIdle(ctx context.Context, leave func()) {
	if w.cfg.Leave.Idle == 0 {
		return
	}
	look := time.NewTicker(min(time.Second, w.cfg.Leave.Idle))
	defer look.Stop()
	since := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if len(w.inFlight.ids()) > 0 {
			since = time.Now()
		} else if time.Since(since) >= w.cfg.Leave.Idle {
			w.log.Info("the worker leaves: it had nothing to do", "for", w.cfg.Leave.Idle)
			leave()
			return
		}
	}
}

// await waits until all that runs has ended, or ctx.
func await(ctx context.Context, running *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() {
		running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
