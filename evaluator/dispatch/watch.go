package dispatch

import (
	"fmt"
	"slices"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/fleet"
	"warpboard/models/work"
)

const (
	// missingAttemptTimeout is the time for which a live worker may omit a received attempt from its heartbeats before
	// the attempt counts as lost. One heartbeat is not enough, because the attempt's result may be on its way.
	missingAttemptTimeout = 5 * time.Second
)

// A site that was suspended, or waited for its database, receives all messages of that time late and at once.
const (
	// minSuspensionPause is the pause between two passes from which the process counts as suspended.
	minSuspensionPause = fleet.WorkerTimeout / 2
	// slowWriteTime is the duration of a small write from which heartbeats may not have been stored.
	slowWriteTime = time.Second
)

// attemptLoss is the public reason for requeuing an attempt, and whether the loss counts against the run.
type attemptLoss struct {
	reason   string
	lossKind work.LossKind
}

// lossDetector finds attempts that must be requeued because they will not end. Its only state is times of observation;
// a new lossDetector finds the same attempts a little later. For each live attempt one of these holds:
//
// Its worker lists it: it is not lost, however long it takes, because the worker enforces time limits.
//
// Its worker sends heartbeats that do not list it: it is lost after missingAttemptTimeout. The worker restarted, lost
// the attempt, or did not receive the job.
//
// Its worker is silent: it is lost after WorkerTimeout.
//
// The last two count against a run that its worker had received (classifyLoss), because a kernel can crash a worker.
// They do not count if the site itself was down at that time, or if the worker was stopping and was killed before it
// returned its attempts.
type lossDetector struct {
	startedAt              time.Time            // start of the time in which silence counts
	lastPassAt             time.Time            // time of the last pass
	slowWriteTime          time.Duration        // slowWriteTime, except in tests
	attemptMissingSince    map[string]time.Time // by attempt: since when its live worker does not list it
	stoppingWorkerAttempts map[string]bool      // attempts of workers that are stopping
}

func newLossDetector(started time.Time) lossDetector {
	return lossDetector{
		startedAt:              started,
		slowWriteTime:          slowWriteTime,
		attemptMissingSince:    map[string]time.Time{},
		stoppingWorkerAttempts: map[string]bool{},
	}
}

// beginPass records the start of a pass. If the previous pass was too long ago, or the clock was changed, the silence
// of workers is measured from now.
func (w *lossDetector) beginPass(now time.Time) {
	now = now.Round(0) // by the wall clock, which continues while a machine sleeps
	if since := now.Sub(w.lastPassAt); !w.lastPassAt.IsZero() &&
		(since > minSuspensionPause || since < -minSuspensionPause) {
		w.restartSilence(now)
	}
	w.lastPassAt = now
}

// restartSilence makes the silence of workers count from now. Call it after the site was suspended or its database did
// not respond, because heartbeats and results were lost or delayed.
func (w *lossDetector) restartSilence(now time.Time) {
	w.startedAt = now
	w.attemptMissingSince = map[string]time.Time{}
}

// lostAttempts returns the attempts to requeue. The loss of a worker counts against its runs, which may have caused it,
// unless the site was down at some time since they started.
func (w *lossDetector) lostAttempts(live []work.LiveAttempt, workers []fleet.Worker, now time.Time) map[string]attemptLoss {
	byName := make(map[string]fleet.Worker, len(workers))
	for _, worker := range workers {
		byName[worker.Name] = worker
	}
	missing, leaving := map[string]time.Time{}, map[string]bool{}
	lost := map[string]attemptLoss{}
	for _, a := range live {
		worker, began := byName[a.Worker], a.BeganAt()
		if w.stoppingWorkerAttempts[a.ID] || worker.HasExited && slices.Contains(worker.AttemptIDs, a.ID) {
			leaving[a.ID] = true
		}
		lastSeen := slices.MaxFunc([]time.Time{worker.SeenAt, w.startedAt, began}, time.Time.Compare)
		switch {
		case now.Sub(lastSeen) >= fleet.WorkerTimeout:
			lost[a.ID] = attemptLoss{fmt.Sprintf("The worker %s has been silent for %v.", a.Worker, fleet.WorkerTimeout), w.classifyLoss(a, leaving[a.ID])}
		case worker.SeenAt.After(began) && !slices.Contains(worker.AttemptIDs, a.ID):
			since, ok := w.attemptMissingSince[a.ID]
			if !ok {
				since = now
			}
			if missing[a.ID] = since; now.Sub(since) >= missingAttemptTimeout {
				lost[a.ID] = attemptLoss{fmt.Sprintf("The worker %s was restarted or lost it.", a.Worker), w.classifyLoss(a, leaving[a.ID])}
			}
		}
	}
	w.attemptMissingSince, w.stoppingWorkerAttempts = missing, leaving
	return lost
}

// classifyLoss decides whether a lost worker counts against the run. leaving means that the worker was stopping.
func (w *lossDetector) classifyLoss(a work.LiveAttempt, leaving bool) work.LossKind {
	switch {
	case a.ReceivedAt == nil || leaving:
		return work.LossHandedBack
	case w.startedAt.After(*a.ReceivedAt):
		return work.LossRetriedAfterPause
	}
	return work.LossCountedAgainstWork
}

// liveSlots counts the slots of live workers, by device.
func liveSlots(workers []fleet.Worker, started, now time.Time) map[string]fleet.DeviceSlots {
	return fleet.CountSlots(workers, now, func(w fleet.Worker, slot job.Slot) bool {
		// a worker seen only by an earlier process may be gone
		return w.AcceptsJobsOn(slot) && !w.SeenAt.Before(started)
	})
}
