package evaluator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"warpboard/evaluator/attempt"
)

// keepCancelled is how many cancellations of attempts that are not in flight are kept: a cancellation can overtake its job.
// All workers get all cancellations of a site; those of other workers' attempts are dropped again unused.
const keepCancelled = 256

// inFlight is the attempts that a worker was given and has not ended. The zero value is ready.
// mu guards everything in it. cancel functions are called under it: they do not block.
type inFlight struct {
	mu        sync.Mutex
	all       map[string]*flight
	cancelled []string // ids that were cancelled while not in flight, the oldest first
	ending    bool     // whatever comes is handed back
}

// flight is one attempt in flight.
type flight struct {
	cancel context.CancelCauseFunc
	expect time.Duration // for how long it is on its slot, by runs like it; 0: not known
	onSlot time.Time     // since when; zero: it is not
}

// add notes an attempt. One that is in flight already is refused.
func (a *inFlight) add(id string, expect time.Duration, cancel context.CancelCauseFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[id] != nil {
		return false
	}
	if a.all == nil {
		a.all = map[string]*flight{}
	}
	a.all[id] = &flight{cancel: cancel, expect: expect}
	switch {
	case slices.Contains(a.cancelled, id):
		cancel(attempt.ErrCancelled)
	case a.ending:
		cancel(attempt.ErrStopping)
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

// onSlot notes that an attempt is on its slot; an attempt that did not come from the site is not in flight.
func (a *inFlight) onSlot(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.all[id]; one != nil {
		one.onSlot = time.Now()
	}
}

// endBy hands back at once the attempts that will not end in time: those not on a slot, those whose like take too long, and
// those that arrive from now on. Attempts of unknown duration go on. It may be called twice, by a stop signal and by a
// notice. A cancelled attempt keeps its first cause.
func (a *inFlight) endBy(by time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ending = true
	for _, one := range a.all {
		switch {
		case one.onSlot.IsZero():
			one.cancel(attempt.ErrStopping)
		case one.expect > 0 && one.onSlot.Add(one.expect).After(by):
			one.cancel(fmt.Errorf("%w in %s, and runs like this one take about %s", attempt.ErrStopping,
				max(0, time.Until(by)).Round(time.Second), one.expect.Round(time.Second)))
		}
	}
}

func (a *inFlight) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.all))
}
