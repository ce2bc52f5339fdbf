package dispatch

import (
	"fmt"
	"slices"
	"time"

	"warpboard/models"
)

const (
	// missingFor is how long a live worker may fail to list an attempt that it took. Its result
	// may be on the way, so one heartbeat is not enough.
	missingFor = 5 * time.Second
	// untakenFor is how long a job may lie in the queue while a slot is free. It is then not in
	// the queue at all: it was purged, or handed to a worker that died before it said so.
	untakenFor = 15 * time.Second
)

// watch finds attempts that will never end by themselves. What it remembers is only since when it
// saw something; a new one finds the same a little later.
type watch struct {
	started time.Time            // silence counts from here: nobody was listening before
	missing map[string]time.Time // attempt → since when its live worker does not list it
	free    map[string]time.Time // device → since when it has a free slot
}

func newWatch(started time.Time) watch {
	return watch{started: started, missing: map[string]time.Time{}, free: map[string]time.Time{}}
}

// blind notes that the database did not answer: heartbeats got lost, so silence counts from here.
func (w *watch) blind(now time.Time) { w.started = now }

// lost returns the attempts to take back, each with a reason for people.
func (w *watch) lost(live []models.LiveAttempt, workers []models.Worker, slots map[string]int, now time.Time) map[string]string {
	byName := make(map[string]models.Worker, len(workers))
	for _, worker := range workers {
		byName[worker.Name] = worker
	}
	w.noteFree(live, slots, now)
	missing := map[string]time.Time{}
	lost := map[string]string{}
	for _, a := range live {
		worker := byName[a.Worker]
		switch {
		case a.TakenAt == nil:
			if w.untaken(a, now) {
				lost[a.ID] = "No worker took the run although one was free."
			}
		case now.Sub(later(worker.SeenAt, w.started)) >= models.WorkerTimeout:
			lost[a.ID] = fmt.Sprintf("The worker %s has not been heard of for %v.", a.Worker, models.WorkerTimeout)
		case worker.SeenAt.After(*a.TakenAt) && !slices.Contains(worker.Attempts, a.ID):
			since, ok := w.missing[a.ID]
			if !ok {
				since = now
			}
			if missing[a.ID] = since; now.Sub(since) >= missingFor {
				lost[a.ID] = fmt.Sprintf("The worker %s was restarted or lost the run.", a.Worker)
			}
		}
	}
	w.missing = missing
	return lost
}

// noteFree remembers since when each device has had a free slot without a break.
func (w *watch) noteFree(live []models.LiveAttempt, slots map[string]int, now time.Time) {
	free := map[string]time.Time{}
	for device, n := range slots {
		for _, a := range live {
			if a.Device == device && a.TakenAt != nil {
				n--
			}
		}
		if n <= 0 {
			continue
		}
		if free[device] = now; !w.free[device].IsZero() {
			free[device] = w.free[device]
		}
	}
	w.free = free
}

func (w *watch) untaken(a models.LiveAttempt, now time.Time) bool {
	free, ok := w.free[a.Device]
	return ok && a.PublishedAt != nil && now.Sub(later(free, *a.PublishedAt)) >= untakenFor
}

// liveSlots counts the usable slots of live workers, by device.
func liveSlots(workers []models.Worker, started, now time.Time) map[string]int {
	slots := map[string]int{}
	for _, w := range workers {
		if !w.Live(now) || w.SeenAt.Before(started) {
			continue // a worker that only an earlier process heard of may be gone
		}
		for _, slot := range w.Slots {
			if w.Takes(slot) {
				slots[slot.Device]++
			}
		}
	}
	return slots
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
