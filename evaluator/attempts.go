package evaluator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// errCancelled is why a job ends that the site cancelled.
var errCancelled = errors.New("the run was cancelled")

// keepCancelled is how many cancellations of attempts that are not in hand are remembered: one
// can overtake its job.
const keepCancelled = 256

// attempts are the jobs that a worker has in hand. The zero value is ready.
type attempts struct {
	mu        sync.Mutex
	all       map[string]*attempt
	cancelled []string // ids that were cancelled while not in hand, the oldest first
}

// attempt is one job in hand.
type attempt struct {
	cancel context.CancelCauseFunc
	onSlot bool
}

// add notes an attempt. An attempt that is in hand already is refused: its job was delivered
// again because its signs of life came too late.
func (a *attempts) add(id string, cancel context.CancelCauseFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[id] != nil {
		return false
	}
	if a.all == nil {
		a.all = map[string]*attempt{}
	}
	a.all[id] = &attempt{cancel: cancel}
	if slices.Contains(a.cancelled, id) {
		cancel(errCancelled)
	}
	return true
}

func (a *attempts) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, id)
}

// cancel ends an attempt at whatever it is doing.
func (a *attempts) cancel(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := a.all[id]; found != nil {
		found.cancel(errCancelled)
		return
	}
	if a.cancelled = append(a.cancelled, id); len(a.cancelled) > keepCancelled {
		a.cancelled = a.cancelled[1:]
	}
}

// reached notes that an attempt is on its slot; one that did not come from the queue is not in hand.
func (a *attempts) reached(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.all[id]; one != nil {
		one.onSlot = true
	}
}

// handBackWaiting ends the attempts that have not reached their slot.
func (a *attempts) handBackWaiting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.all {
		if !one.onSlot {
			one.cancel(errStopping)
		}
	}
}

func (a *attempts) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.all))
}
