package evaluator

import (
	"context"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
)

// syncLoop sends heartbeats to the site until ctx ends. It starts before the sandbox is tested and ends after the last
// result, because the site considers a silent worker dead and gives its attempts to others.
func (w *Worker) syncLoop(ctx context.Context) {
	tick := time.NewTicker(w.cfg.HeartbeatEvery)
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

// sendHeartbeat sends one heartbeat. An error is only logged: the next heartbeat replaces this one.
func (w *Worker) sendHeartbeat() {
	h := w.heartbeat()
	if w.siteHasPackages {
		h.Packages = nil
	}
	err := w.cfg.Conn.Sync(context.Background(), h)
	if err != nil {
		w.log.Warn("the heartbeat did not reach the site", "err", err)
	}
	w.siteHasPackages = err == nil // after a failure, the site may have forgotten the worker
}

func (w *Worker) heartbeat() job.Heartbeat {
	// Lock order: mu, then the locks of liveAttempts, testProgramResults, and slots. Each is held briefly, and none of
	// them calls back.
	w.mu.Lock()
	defer w.mu.Unlock()
	packages := requirement.Packages{}
	if python := w.cfg.Toolchain.Python; python != nil && python.Packages != nil {
		packages = python.Packages
	}
	return job.Heartbeat{
		Worker:          w.cfg.Name,
		Time:            time.Now().UTC(),
		WorkerStartedAt: w.startedAt,
		WorkerVersion:   w.cfg.Version,
		Attempts:        w.liveAttempts.ids(),
		// The slice is cut to its length so that append copies it, because the next heartbeat uses
		// w.sandboxTestResults, too.
		SelfTestResults: append(w.sandboxTestResults[:len(w.sandboxTestResults):len(w.sandboxTestResults)], w.testResults.summarizeTests()...),
		NoJobsReason:    w.noJobsReason,
		IsStopping:      w.isStopping,
		Slots:           w.slots.Heartbeat(w.profiler() != nil, w.cfg.Sanitizer != nil),
		Packages:        packages,
	}
}
