package quota

import (
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// RateLimit is the number of actions that a subject may perform within a time window; 0 means no limit.
type RateLimit struct {
	Max         int
	Window      time.Duration
	RefusalText string // a sentence; {wait} stands for the time until the next act is accepted
}

// Check returns an error if another action would exceed the limit. acts selects the subject's actions; at is the column
// with their times. Call it in the transaction of the action: transactions are serialized, so two requests cannot both
// be the last allowed one.
func (r RateLimit) Check(acts *gorm.DB, at string) error {
	if r.Max <= 0 {
		return nil
	}
	var done []time.Time
	err := acts.Where(at+" > ?", db.Now().Add(-r.Window)).Order(at+" desc").Limit(r.Max).Pluck(at, &done).Error
	if err != nil || len(done) < r.Max {
		return db.ReadError(err, "recent acts of a person")
	}
	return RetryLaterError(done[r.Max-1].Add(r.Window), r.RefusalText)
}

// RetryLaterError returns a TooMany error with a Retry-After time, rounded up to whole seconds so that a retry at that
// time is accepted.
func RetryLaterError(free time.Time, refusal string) error {
	wait := max(free.Sub(db.Now()), 0).Truncate(time.Second) + time.Second
	return db.TooManyf(wait, "%s", strings.ReplaceAll(refusal, "{wait}", wait.String()))
}

// CheckUnfinished returns an error if the subject has reached the limit most of unfinished rows; 0 means no limit.
// retry is the Retry-After time, a guess because the end of the work is unknown.
func CheckUnfinished(unfinished *gorm.DB, most int, retry time.Duration) error {
	var n int64
	if most <= 0 {
		return nil
	}
	if err := unfinished.Count(&n).Error; err != nil || n < int64(most) {
		return db.ReadError(err, "unfinished work")
	}
	return db.TooManyf(retry, "You already have %d waiting or running, the most at once. Wait for one to end, or cancel one.", n)
}
