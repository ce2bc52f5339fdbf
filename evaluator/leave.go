package evaluator

import (
	"context"
	"sync"
	"time"

	"warpboard/evaluator/attempt"
)

// Leaving is when a worker ends by itself. What it has by then it ends in peace: only a stop signal or a notice hurries it.
type Leaving struct {
	Once bool          // after one job; slots that get theirs at the same moment do theirs, too
	Idle time.Duration // after so long without a job; 0: never
}

// leaveWhenIdle calls leave after the worker had nothing to do for long enough.
func (w *Worker) leaveWhenIdle(ctx context.Context, leave func()) {
	if w.cfg.Leave.Idle == 0 {
		return
	}
	// Looked at once a second: a job that came and went between two looks does not count as something to do.
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

// leaveOnNotice calls leave when the machine is said to go away, and passes on until when it stays.
// until has room for one message and there is one notice, so that sending never waits.
func (w *Worker) leaveOnNotice(ctx context.Context, leave func(), until chan<- time.Time) {
	if w.cfg.Notice == nil {
		return
	}
	if at, ok := w.cfg.Notice(ctx); ok {
		w.log.Warn("the worker leaves: its machine goes away", "in", time.Until(at).Round(time.Second))
		until <- at
		leave()
	}
}

// finish waits until the attempts have ended: for Config.Grace after a stop signal (ctx), or until the machine goes after a
// notice, whichever is shorter. This goroutine closes the pools of warm programs last, when no attempt can use them any
// more.
func (w *Worker) finish(ctx context.Context, running *sync.WaitGroup, until <-chan time.Time, endJobs context.CancelCauseFunc) {
	ended, stopped := make(chan struct{}), ctx.Done()
	go func() {
		running.Wait()
		close(ended)
	}()
	for {
		select {
		case <-ended:
			w.stop()
			w.Close()
			return
		case <-stopped:
			stopped = nil
			defer w.endBy(time.Now().Add(w.cfg.Grace), endJobs).Stop()
		case by := <-until:
			defer w.endBy(by, endJobs).Stop()
		}
	}
}

// endBy hands back the attempts that will not end in time: at once if that is known, otherwise at that time.
func (w *Worker) endBy(by time.Time, endJobs context.CancelCauseFunc) *time.Timer {
	w.stop()
	w.inFlight.endBy(by)
	// The cause is ErrStopping: attempts then conclude as handed back, which costs no one anything.
	return time.AfterFunc(time.Until(by), func() { endJobs(attempt.ErrStopping) })
}
