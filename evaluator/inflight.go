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

// maxStoredCancellations limits the stored cancellations of attempts that are not in flight. They are stored because a
// cancellation can arrive before its job. Each worker receives all cancellations of a site, including those of other
// workers' attempts.
const maxStoredCancellations = 256

// liveAttempts is the set of attempts that the worker has received and not finished. The zero value is ready to use. mu
// guards all fields. cancel functions are called while mu is held; they do not block.
type liveAttempts struct {
	mu                 sync.Mutex
	byID               map[string]*liveAttempt
	cancelledIDs       []string // IDs cancelled while not in flight, oldest first
	returnsNewAttempts bool     // hand back further jobs at once
}

// liveAttempt is one attempt in flight.
type liveAttempt struct {
	cancel       context.CancelCauseFunc
	expectedTime time.Duration // estimated time on the slot, from similar runs; 0 if unknown
	onSlotSince  time.Time     // start of the time on the slot; zero before
}

// add adds an attempt. It returns false if the attempt is already in flight.
func (a *liveAttempts) add(id string, expect time.Duration, cancel context.CancelCauseFunc) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID[id] != nil {
		return false
	}
	if a.byID == nil {
		a.byID = map[string]*liveAttempt{}
	}
	a.byID[id] = &liveAttempt{cancel: cancel, expectedTime: expect}
	switch {
	case slices.Contains(a.cancelledIDs, id):
		cancel(attempt.ErrCancelled)
	case a.returnsNewAttempts:
		cancel(attempt.ErrStopping)
	}
	return true
}

func (a *liveAttempts) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byID, id)
}

// cancel cancels an attempt in any state.
func (a *liveAttempts) cancel(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := a.byID[id]; found != nil {
		found.cancel(attempt.ErrCancelled)
		return
	}
	if a.cancelledIDs = append(a.cancelledIDs, id); len(a.cancelledIDs) > maxStoredCancellations {
		a.cancelledIDs = a.cancelledIDs[1:]
	}
}

// markOnSlot records that an attempt now runs on its slot. It ignores attempts that did not come from the site.
func (a *liveAttempts) markOnSlot(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.byID[id]; one != nil {
		one.onSlotSince = time.Now()
	}
}

// returnAttemptsBy returns to the site all attempts that will not end by a time: those that are not on a slot, those
// with a longer estimate, and those that arrive later. Attempts without an estimate continue. It may be called twice,
// after a stop signal and after a shutdown notice. A cancelled attempt keeps its first cause.
func (a *liveAttempts) returnAttemptsBy(by time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.returnsNewAttempts = true
	for _, one := range a.byID {
		switch {
		case one.onSlotSince.IsZero():
			one.cancel(attempt.ErrStopping)
		case one.expectedTime > 0 && one.onSlotSince.Add(one.expectedTime).After(by):
			one.cancel(fmt.Errorf("%w in %s, and runs like this one take about %s", attempt.ErrStopping,
				max(0, time.Until(by)).Round(time.Second), one.expectedTime.Round(time.Second)))
		}
	}
}

func (a *liveAttempts) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.byID))
}
