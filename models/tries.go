package models

import (
	"time"

	"warpboard/models/db"
)

const (
	// MaxLosses is how many attempts may be lost that the run or evaluation itself may have brought
	// down, before it is given up.
	MaxLosses = 3
	// MaxRetries is how many attempts may be lost in all. Pauses have grown to hours in sum by then.
	MaxRetries = 20

	firstPause, longestPause = time.Second, 10 * time.Minute
	pauseGrowth              = 4
)

// Loss says how the loss of an attempt is held against what it was an attempt at.
type Loss int

const (
	LossFree   Loss = iota // handed back: tried again at once, and nothing counts
	LossWaits              // through no fault of its own: tried again after a pause
	LossCounts             // it may have brought its worker down: given up after MaxLosses of these
)

// Tries is what a run or an evaluation remembers of the attempts that it lost.
type Tries struct {
	Losses    int        // lost attempts that it may have brought down itself
	Retries   int        // all lost attempts
	NotBefore *time.Time // when the next attempt may begin, after a loss
}

// lose counts a lost attempt and reports whether there is to be no other one.
func (t *Tries) lose(loss Loss) (givenUp bool) {
	if loss == LossFree {
		return false
	}
	t.Retries++
	if loss == LossCounts {
		t.Losses++
	}
	next := db.Now().Add(pauseAfter(t.Retries))
	t.NotBefore = &next
	return t.Losses >= MaxLosses || t.Retries >= MaxRetries
}

// pauseAfter is how long the next attempt waits after so many lost ones.
func pauseAfter(retries int) time.Duration {
	pause := firstPause
	for range retries - 1 {
		if pause *= pauseGrowth; pause >= longestPause {
			return longestPause
		}
	}
	return pause
}
