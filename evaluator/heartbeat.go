package evaluator

import (
	"context"
	"time"

	"warpboard/evaluator/job"
)

// syncLoop sends the worker's state to the site until ctx ends. It begins before the sandbox is tested, and ends after the
// last result: the site takes a silent worker for dead, and gives its attempts to others.
func (w *Worker) syncLoop(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Beat)
	defer tick.Stop()
	for {
		w.sync()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sync waits for the answer, or until a limit: the next sync is newer anyway.
func (w *Worker) sync() {
	if err := w.cfg.Conn.Sync(context.Background(), w.heartbeat()); err != nil {
		w.log.Warn("the heartbeat did not reach the site", "err", err)
	}
}

func (w *Worker) heartbeat() job.Heartbeat {
	// The order of locks: mu, then those of inFlight, findings and slots, each for a moment. None of them calls back.
	w.mu.Lock()
	defer w.mu.Unlock()
	return job.Heartbeat{
		Worker:   w.cfg.Name,
		Time:     time.Now().UTC(),
		Started:  w.started,
		Version:  w.cfg.Version,
		Attempts: w.inFlight.ids(),
		// The slice is cut to its length, so that append copies it: w.checks is shared with the next heartbeat.
		SelfTest: append(w.checks[:len(w.checks):len(w.checks)], w.found.lines()...),
		Refusing: w.refusing,
		Stopping: w.stopping,
		Slots:    w.pool.Heartbeat(w.profiler() != nil, w.cfg.Sanitizer != nil),
	}
}
