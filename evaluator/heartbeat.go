package evaluator

import (
	"context"
	"time"

	"warpboard/evaluator/job"
)

// heartbeatLoop sends heartbeats until ctx ends.
func (w *Worker) heartbeatLoop(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Beat)
	defer tick.Stop()
	for {
		w.sendHeartbeat()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) sendHeartbeat() {
	if err := w.cfg.Conn.Heartbeat(w.heartbeat()); err != nil {
		w.log.Warn("heartbeat not sent", "err", err)
	}
}

func (w *Worker) heartbeat() job.Heartbeat {
	w.mu.Lock()
	defer w.mu.Unlock()
	return job.Heartbeat{
		Worker:   w.cfg.Name,
		Time:     time.Now().UTC(),
		Started:  w.started,
		Version:  w.cfg.Version,
		Attempts: w.inFlight.ids(),
		SelfTest: append(w.checks[:len(w.checks):len(w.checks)], w.found.lines()...),
		Refusing: w.refusing,
		Stopping: w.stopping,
		Guest:    w.cfg.Guest,
		Slots:    w.pool.Heartbeat(w.profiler() != nil),
	}
}
