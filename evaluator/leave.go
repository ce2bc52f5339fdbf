package evaluator

import (
	"context"
	"sync"
	"time"

	"warpboard/evaluator/attempt"
)

// ExitConditions configures when a worker exits by itself. Attempts in progress then end normally; only a stop signal
// or a shutdown notice limits their time.
type ExitConditions struct {
	AfterOneJob bool          // exit after one job; jobs that other slots receive at the same moment are also finished
	AfterIdle   time.Duration // exit after this time without a job; 0 means never
}

// leaveWhenIdle calls leave when the worker has been idle for ExitConditions.AfterIdle.
func (w *Worker) leaveWhenIdle(ctx context.Context, leave func()) {
	if w.cfg.ExitConditions.AfterIdle == 0 {
		return
	}
	// The check runs once a second: a job that starts and ends between two checks does not count as activity.
	look := time.NewTicker(min(time.Second, w.cfg.ExitConditions.AfterIdle))
	defer look.Stop()
	since := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if len(w.liveAttempts.ids()) > 0 {
			since = time.Now()
		} else if time.Since(since) >= w.cfg.ExitConditions.AfterIdle {
			w.log.Info("the worker leaves: it had nothing to do", "for", w.cfg.ExitConditions.AfterIdle)
			leave()
			return
		}
	}
}

// leaveOnNotice calls leave when a shutdown of the machine is announced, and sends the time of the shutdown to until.
// The send does not block, because until has a buffer for this one value.
func (w *Worker) leaveOnNotice(ctx context.Context, leave func(), until chan<- time.Time) {
	if w.cfg.WaitForShutdownNotice == nil {
		return
	}
	if at, ok := w.cfg.WaitForShutdownNotice(ctx); ok {
		w.log.Warn("the worker leaves: its machine goes away", "in", time.Until(at).Round(time.Second))
		until <- at
		leave()
	}
}

// waitForAttempts waits until the attempts have ended: at most Config.StopTimeout after a stop signal (ctx), or until
// the time of a shutdown notice, whichever is first. Warm programs are closed last, when no attempt can use them.
func (w *Worker) waitForAttempts(
	ctx context.Context, running *sync.WaitGroup, until <-chan time.Time, endJobs context.CancelCauseFunc,
) {
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
			defer w.returnAttemptsBy(time.Now().Add(w.cfg.StopTimeout), endJobs).Stop()
		case by := <-until:
			defer w.returnAttemptsBy(by, endJobs).Stop()
		}
	}
}

// returnAttemptsBy returns to the site the attempts that will not end by a time: at once those that are known to take
// longer, and at that time all others that still run.
func (w *Worker) returnAttemptsBy(by time.Time, endJobs context.CancelCauseFunc) *time.Timer {
	w.stop()
	w.liveAttempts.returnAttemptsBy(by)
	// With the cause ErrStopping attempts are returned to the site, which does not count as a loss.
	return time.AfterFunc(time.Until(by), func() { endJobs(attempt.ErrStopping) })
}
