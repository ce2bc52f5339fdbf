package quota

import (
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// RateLimit is the number of acts that one subject may do within a window; 0 is no limit.
type RateLimit struct {
	Max     int
	Window  time.Duration
	Refusal string // a sentence; {wait} stands for the time until the next act is accepted
}

// Check refuses an act above the rate. acts selects the subject's acts, and at is the column of their times. Call it in
// the transaction that does the act: transactions take turns, so two requests cannot both be the last one that fits.
func (r RateLimit) Check(acts *gorm.DB, at string) error {
	if r.Max <= 0 {
		return nil
	}
	var done []time.Time
	err := acts.Where(at+" > ?", db.Now().Add(-r.Window)).Order(at+" desc").Limit(r.Max).Pluck(at, &done).Error
	if err != nil || len(done) < r.Max {
		return db.ReadError(err, "recent acts of a person")
	}
	return RefuseUntil(done[r.Max-1].Add(r.Window), r.Refusal)
}

// RefuseUntil refuses work before a time. The wait is rounded up to a second, since Retry-After has no fractions: a
// client that comes back on time must not be refused again.
func RefuseUntil(free time.Time, refusal string) error {
	wait := max(free.Sub(db.Now()), 0).Truncate(time.Second) + time.Second
	return db.TooManyf(wait, "%s", strings.ReplaceAll(refusal, "{wait}", wait.String()))
}

// CheckUnfinished refuses work while as much of the subject is unfinished as may be; 0 is no limit. When some of it
// ends is unknown, so retry is a guess that keeps clients from asking in a loop.
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
