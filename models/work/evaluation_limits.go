package work

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/quota"
)

// EvaluationLimits limits the evaluations of one caller; 0 means no limit. For admins only MaxLive applies.
type EvaluationLimits struct {
	MaxLive         int   // waiting or running evaluations; for batches only those in the queue of one device
	MaxPerHour      int   // evaluations of one caller in an hour
	MaxBytesPerHour int64 // bytes of the requests in an hour
}

// limitPeriod is the period of the limits of an hour.
const limitPeriod = time.Hour

// evaluationRetryAfter is the Retry-After time for a caller who has as many unfinished evaluations as allowed.
const evaluationRetryAfter = 2 * time.Second

func (l EvaluationLimits) check(tx *gorm.DB, user accounts.User, caller string, bytes int64) error {
	// Evaluations of a batch beyond the limit are parked instead, see NewBatch.parkExcess.
	live := tx.Model(&Evaluation{}).Where("caller = ? and batch = '' and "+NotEndedSQL, caller)
	if err := quota.CheckUnfinished(live, l.MaxLive, evaluationRetryAfter); err != nil {
		return err
	}
	hour, err := l.readHourlyUse(tx, user, caller)
	if err != nil {
		return err
	}
	return hour.addRequest(bytes)
}

// hourlyUse is a caller's use of the last hour, with the limits.
type hourlyUse struct {
	tx               *gorm.DB
	evaluationLimits EvaluationLimits
	caller           string
	hasNoLimit       bool // the caller has no limit
	Count            int64
	Bytes            int64
}

func (l EvaluationLimits) readHourlyUse(tx *gorm.DB, user accounts.User, caller string) (hourlyUse, error) {
	h := hourlyUse{tx: tx, evaluationLimits: l, caller: caller, hasNoLimit: user.IsAdmin()}
	if h.hasNoLimit {
		return h, nil
	}
	var sum struct{ Count, Bytes int64 }
	if err := h.evaluations().Select("count(*) as count, coalesce(sum(request_bytes), 0) as bytes").Scan(&sum).Error; err != nil {
		return h, fmt.Errorf("counting the evaluations of an hour: %w", err)
	}
	h.Count, h.Bytes = sum.Count, sum.Bytes
	return h, nil
}

func (h *hourlyUse) evaluations() *gorm.DB {
	return h.tx.Model(&Evaluation{}).Where("caller = ? and queued_at > ?", h.caller, db.Now().Add(-limitPeriod))
}

// addRequest counts one more request, or returns an error if that exceeds a limit.
func (h *hourlyUse) addRequest(bytes int64) error {
	l := h.evaluationLimits
	switch {
	case h.hasNoLimit:
		return nil
	case l.MaxPerHour > 0 && h.Count >= int64(l.MaxPerHour):
		return h.limitError(fmt.Sprintf("At most %d evaluations an hour are accepted", l.MaxPerHour))
	case l.MaxBytesPerHour > 0 && h.Count > 0 && h.Bytes+bytes > l.MaxBytesPerHour:
		return h.limitError(fmt.Sprintf("At most %d MiB of requests for evaluations an hour are accepted", l.MaxBytesPerHour>>20))
	}
	h.Count, h.Bytes = h.Count+1, h.Bytes+bytes
	return nil
}

func (h *hourlyUse) limitError(what string) error {
	first := Evaluation{Work: Work{QueuedAt: db.Now()}} // the oldest evaluation of the last hour
	if err := h.evaluations().Select("queued_at").Order("queued_at").Limit(1).Find(&first).Error; err != nil {
		return fmt.Errorf("reading the first evaluation of an hour: %w", err)
	}
	return quota.RetryLaterError(first.QueuedAt.Add(limitPeriod), what+"; try again in {wait}.")
}

// PruneEvaluationsAbove deletes the oldest ended evaluations of each caller until the remaining requests have at most
// the given size.
func (l *LifeCycle) PruneEvaluationsAbove(ctx context.Context, most int64) error {
	err := l.db.WriteStatement(ctx).Exec(`delete from evaluations where ended_at is not null and `+unsharedResultSQL+` and `+endedBatchSQL+` and id in (select id from (
		select id, sum(case when state = ? then 0 else request_bytes end) over (partition by caller order by queued_at desc, id) as kept
		from evaluations) newer where kept > ?)`, EvaluationCancelled, most).Error
	return db.WriteError(err, "evaluations without the oldest of callers with many")
}
