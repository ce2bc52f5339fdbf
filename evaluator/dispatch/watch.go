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
	// missingTimeout is the time for which a live worker may omit an attempt that it took before the attempt counts as
	// lost. Its result may be in flight, so one heartbeat is not enough.
	missingTimeout = 5 * time.Second
)

// A site that was suspended, or waited for its database, receives its workers' messages late and all at once.
const (
	// suspendedAfter is the time between two passes from which the whole process counts as suspended.
	suspendedAfter = fleet.WorkerTimeout / 2
	// slowWriteTime is the duration of a small write from which heartbeats may not have been stored either.
	slowWriteTime = time.Second
)

// lossReason is the public reason for taking back an attempt, and whether it counts against the run.
type lossReason struct {
	reason string
	kind   work.Loss
}

// watch finds attempts that will never end unless they are taken back. Its only state is times of observation; a new
// watch finds the same a little later. For each live attempt one of these holds:
//
//	its worker lists it                     not lost, however long it takes: the worker enforces time limits
//	its worker reports and does not list it lost after missingTimeout: it restarted, forgot the attempt, or did not get its job
//	its worker is silent                    lost after WorkerTimeout
//
// The last two count against a run that its worker took (lossOf), because a kernel can crash its worker. They do not
// count if the site itself was down then, or if the worker was stopping: it was killed before it had handed its
// attempts back.
type watch struct {
	startedAt         time.Time            // silence counts from here
	lastPassAt        time.Time            // time of the last pass
	slowWriteTime     time.Duration        // slowWriteTime, except in tests
	missingSince      map[string]time.Time // by attempt: since when its live worker does not list it
	ofStoppingWorkers map[string]bool      // attempts of workers that are stopping
}

func newWatch(started time.Time) watch {
	return watch{
		startedAt:         started,
		slowWriteTime:     slowWriteTime,
		missingSince:      map[string]time.Time{},
		ofStoppingWorkers: map[string]bool{},
	}
}

// beginPass records the start of a pass. If the last one was too long ago, or the clock was set, silence is counted
// from now.
func (w *watch) beginPass(now time.Time) {
	now = now.Round(0) // by the wall clock, which continues while a machine sleeps
	if since := now.Sub(w.lastPassAt); !w.lastPassAt.IsZero() && (since > suspendedAfter || since < -suspendedAfter) {
		w.resetClock(now)
	}
	w.lastPassAt = now
}

// resetClock counts silence from now. Call it after the site was suspended or its database did not answer, because
// heartbeats and results were lost or are still waiting.
func (w *watch) resetClock(now time.Time) {
	w.startedAt = now
	w.missingSince = map[string]time.Time{}
}

// lostAttempts returns the attempts to take back. The end of a worker counts against its runs, which may have caused
// it, unless the site itself was down since they started.
func (w *watch) lostAttempts(live []work.LiveAttempt, workers []fleet.Worker, now time.Time) map[string]lossReason {
	byName := make(map[string]fleet.Worker, len(workers))
	for _, worker := range workers {
		byName[worker.Name] = worker
	}
	missing, leaving := map[string]time.Time{}, map[string]bool{}
	lost := map[string]lossReason{}
	for _, a := range live {
		worker, began := byName[a.Worker], a.Began()
		if w.ofStoppingWorkers[a.ID] || worker.Stopping && slices.Contains(worker.Attempts, a.ID) {
			leaving[a.ID] = true
		}
		lastSeen := slices.MaxFunc([]time.Time{worker.SeenAt, w.startedAt, began}, time.Time.Compare)
		switch {
		case now.Sub(lastSeen) >= fleet.WorkerTimeout:
			lost[a.ID] = lossReason{fmt.Sprintf("The worker %s has been silent for %v.", a.Worker, fleet.WorkerTimeout), w.lossOf(a, leaving[a.ID])}
		case worker.SeenAt.After(began) && !slices.Contains(worker.Attempts, a.ID):
			since, ok := w.missingSince[a.ID]
			if !ok {
				since = now
			}
			if missing[a.ID] = since; now.Sub(since) >= missingTimeout {
				lost[a.ID] = lossReason{fmt.Sprintf("The worker %s was restarted or lost it.", a.Worker), w.lossOf(a, leaving[a.ID])}
			}
		}
	}
	w.missingSince, w.ofStoppingWorkers = missing, leaving
	return lost
}

// lossOf decides whether a lost worker counts against the run. leaving means that the worker was stopping.
func (w *watch) lossOf(a work.LiveAttempt, leaving bool) work.Loss {
	switch {
	case a.TakenAt == nil || leaving:
		return work.LossFree
	case w.startedAt.After(*a.TakenAt):
		return work.LossWaits
	}
	return work.LossCounts
}

// liveSlots counts the slots of live workers, by device.
func liveSlots(workers []fleet.Worker, started, now time.Time) map[string]fleet.DeviceSlots {
	return fleet.SlotsOf(workers, now, func(w fleet.Worker, slot job.Slot) bool {
		return w.Takes(slot) && !w.SeenAt.Before(started) // a worker seen only by an earlier process may be gone
	})
}
