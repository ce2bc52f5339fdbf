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
	// missingFor is how long a live worker may fail to list an attempt that it took. Its result
	// may be on the way, so one heartbeat is not enough.
	missingFor = 5 * time.Second
)

// A site that was frozen, or waited for its database, gets its workers' messages late and all at once.
const (
	// frozenFor is how long it takes from one look to the next if the whole process was held up.
	frozenFor = fleet.WorkerTimeout / 2
	// slowWrite is how long a small write takes if heartbeats could not be stored either.
	slowWrite = time.Second
)

// loss is why an attempt is to be taken back, for people, and how that counts.
type loss struct {
	reason string
	counts work.Loss
}

// watch finds attempts that will never end unless they are given up. Its only state is since when it saw something; a new
// one finds the same a little later. For each live attempt one of these holds:
//
//	its worker lists it                         no loss, however long it takes: limits of time are the worker's
//	its worker speaks and does not list it      lost after missingFor: restarted, the attempt was forgotten, or its job has not arrived
//	its worker is silent                        lost after WorkerTimeout
//
// The last two count against a run that its worker took (blame), because a kernel can take its worker down. They do not
// count if the site itself was away then, or if the worker was about to leave: its operator stopped it, and it was killed before
// it had handed its attempts back.
type watch struct {
	started  time.Time            // silence counts from here: no one was listening before
	looked   time.Time            // when it last looked
	writeFor time.Duration        // see slowWrite
	missing  map[string]time.Time // attempt → since when its live worker does not list it
	leaving  map[string]bool      // attempts that a worker listed while it was stopping
}

func newWatch(started time.Time) watch {
	return watch{started: started, writeFor: slowWrite, missing: map[string]time.Time{}, leaving: map[string]bool{}}
}

// looks notes that the site is about to look. It was blind in between if that took too long, or if the
// clock was set.
func (w *watch) looks(now time.Time) {
	now = now.Round(0) // by the wall clock, which goes on while a machine sleeps
	if since := now.Sub(w.looked); !w.looked.IsZero() && (since > frozenFor || since < -frozenFor) {
		w.resetClock(now)
	}
	w.looked = now
}

// resetClock notes that the site was held up or that its database did not answer: heartbeats and results got
// lost or lie waiting, so silence counts from here.
func (w *watch) resetClock(now time.Time) {
	w.started = now
	w.missing = map[string]time.Time{}
}

// lost returns the attempts to take back. What their runs can have caused counts against them: the end of
// a worker, unless the site itself was away since they began.
func (w *watch) lost(live []work.LiveAttempt, workers []fleet.Worker, now time.Time) map[string]loss {
	byName := make(map[string]fleet.Worker, len(workers))
	for _, worker := range workers {
		byName[worker.Name] = worker
	}
	missing, leaving := map[string]time.Time{}, map[string]bool{}
	lost := map[string]loss{}
	for _, a := range live {
		worker, began := byName[a.Worker], a.Began()
		if w.leaving[a.ID] || worker.Stopping && slices.Contains(worker.Attempts, a.ID) {
			leaving[a.ID] = true
		}
		heard := slices.MaxFunc([]time.Time{worker.SeenAt, w.started, began}, time.Time.Compare)
		switch {
		case now.Sub(heard) >= fleet.WorkerTimeout:
			lost[a.ID] = loss{fmt.Sprintf("The worker %s has been silent for %v.", a.Worker, fleet.WorkerTimeout), w.blame(a, leaving[a.ID])}
		case worker.SeenAt.After(began) && !slices.Contains(worker.Attempts, a.ID):
			since, ok := w.missing[a.ID]
			if !ok {
				since = now
			}
			if missing[a.ID] = since; now.Sub(since) >= missingFor {
				lost[a.ID] = loss{fmt.Sprintf("The worker %s was restarted or lost it.", a.Worker), w.blame(a, leaving[a.ID])}
			}
		}
	}
	w.missing, w.leaving = missing, leaving
	return lost
}

// blame decides how the end of an attempt's worker counts. leaving reports whether the worker was stopping.
func (w *watch) blame(a work.LiveAttempt, leaving bool) work.Loss {
	switch {
	case a.TakenAt == nil || leaving:
		return work.LossFree
	case w.started.After(*a.TakenAt):
		return work.LossWaits
	}
	return work.LossCounts
}

// liveSlots counts the slots of live workers, by device.
func liveSlots(workers []fleet.Worker, started, now time.Time) map[string]fleet.DeviceSlots {
	return fleet.SlotsOf(workers, now, func(w fleet.Worker, slot job.Slot) bool {
		return w.Takes(slot) && !w.SeenAt.Before(started) // a worker that only an earlier process heard of may be gone
	})
}
