package evaluator

import (
	"context"
	"time"

	"warpboard/evaluator/job"
)

// beats sends heartbeats until ctx ends.
func (w *Worker) beats(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Beat)
	defer tick.Stop()
	for {
		w.beat()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Worker) beat() {
	if err := w.cfg.Conn.Heartbeat(w.heartbeat()); err != nil {
		w.log.Warn("heartbeat not sent", "err", err)
	}
}

func (w *Worker) heartbeat() job.Heartbeat {
	w.mu.Lock()
	defer w.mu.Unlock()
	beat := job.Heartbeat{
		Worker:   w.cfg.Name,
		Time:     time.Now().UTC(),
		Started:  w.started,
		Version:  w.cfg.Version,
		Attempts: w.inHand.ids(),
		SelfTest: w.checks,
		Refusing: w.refusing,
		Stopping: w.stopping,
	}
	for _, s := range w.slots {
		described := s.describe(w.machine(s.Slot, langs(s.Slot)...))
		described.Profiler = w.profiles(s)
		beat.Slots = append(beat.Slots, described)
	}
	return beat
}
