package evaluator

import (
	"context"
	"maps"
	"slices"
	"sync"

	"warpboard/evaluator/attempt"
)

// keepCancelled is how many cancellations of attempts that are not in flight are remembered: one
// can overtake its job.
const keepCancelled = 256

// inFlight is the attempts that a worker has taken from the queue and not ended. The zero value is ready.
type inFlight struct {
	mu        sync.Mutex
	all       map[string]*flight
	cancelled []string // ids that were cancelled while not in flight, the oldest first
}

// flight is one attempt in flight.
type flight struct {
	cancel context.CancelCauseFunc
	onSlot bool
}

// add notes an attempt. An attempt that is in flight already is refused: its job was delivered
// again because its signs of life came too late.
func (a *inFlight) add(id string, cancel context.CancelCauseFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[id] != nil {
		return false
	}
	if a.all == nil {
		a.all = map[string]*flight{}
	}
	a.all[id] = &flight{cancel: cancel}
	if slices.Contains(a.cancelled, id) {
		cancel(attempt.ErrCancelled)
	}
	return true
}

func (a *inFlight) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, id)
}

// cancel ends an attempt at whatever it is doing.
func (a *inFlight) cancel(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := a.all[id]; found != nil {
		found.cancel(attempt.ErrCancelled)
		return
	}
	if a.cancelled = append(a.cancelled, id); len(a.cancelled) > keepCancelled {
		a.cancelled = a.cancelled[1:]
	}
}

// onSlot notes that an attempt is on its slot; one that did not come from the queue is not in flight.
func (a *inFlight) onSlot(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.all[id]; one != nil {
		one.onSlot = true
	}
}

// requeueWaiting ends the attempts that are not on their slot; they are handed back.
func (a *inFlight) requeueWaiting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.all {
		if !one.onSlot {
			one.cancel(attempt.ErrStopping)
		}
	}
}

func (a *inFlight) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.all))
}
