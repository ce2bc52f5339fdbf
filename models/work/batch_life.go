package work

import (
	"context"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Batch is a group of evaluations that were submitted together.
type Batch struct {
	ID            string
	UserID        int64
	Owner         string
	HasUnfinished bool `gorm:"column:live"` // not all have ended
}

// MayRead reports whether a caller may read the results of a batch or cancel it: its own caller and admins may. Only
// single evaluations can be shared.
func (b Batch) MayRead(a Requester) bool {
	return a.MayChange(Evaluation{UserID: b.UserID, Owner: b.Owner})
}

// Batch returns the owner and the state of a batch, or NotFound if none of its evaluations is stored. It reads one row,
// because unfinished evaluations come first in the index.
func (l *LifeCycle) Batch(ctx context.Context, id string) (b Batch, err error) {
	err = l.db.Read(ctx).Model(&Evaluation{}).Where("batch = ? and batch <> ''", id).Order("batch_result").
		Select("batch as id, user_id, owner, batch_result = 0 as live").Take(&b).Error
	return b, db.ReadError(err, "batch %.80s", id)
}

// NextBatchResult returns the first result of a batch with a number above after, without a large request, or NotFound
// if there is none yet. It reads one result at a time, because a result may have megabytes.
func (l *LifeCycle) NextBatchResult(ctx context.Context, id string, after int64) (Evaluation, error) {
	e, err := l.readShownEvaluation(ctx, func(query *gorm.DB) *gorm.DB {
		return query.Where("batch = ? and batch <> '' and batch_result > ?", id, max(after, 0)).Order("batch_result")
	})
	return e, db.ReadError(err, "further result of batch %s", id)
}

// recordEndInBatch assigns an ended evaluation the next result number of its batch, and moves the next parked one into the
// queue. Write transactions are serialized, so a result that becomes visible later has a higher number.
func (e *Evaluation) recordEndInBatch(tx *gorm.DB) error {
	if e.BatchID == "" || e.EndedAt == nil || e.BatchResultNumber > 0 {
		return nil
	}
	err := tx.Model(&Evaluation{}).Where("batch = ? and batch <> ''", e.BatchID).Select("coalesce(max(batch_result), 0) + 1").Scan(&e.BatchResultNumber).Error
	if err != nil || e.ParkedReason != 0 {
		return db.ReadError(err, "the results of batch %s", e.BatchID)
	}
	if passed, err := e.hasSuccessor(tx); err != nil || passed {
		return err
	}
	next := tx.Model(&Evaluation{}).Select("id").Where("device = ? and caller = ? and "+NotEndedSQL+" and parked = ?", e.Device, e.Caller, parkedByLimit).
		Order("queued_at, id").Limit(1)
	return db.WriteError(tx.Model(&Evaluation{}).Where("id = (?)", next).Update("parked", 0).Error, "the next evaluation of a batch")
}

// CancelBatch cancels at most limit evaluations of a batch, with a reason for their caller. Check Batch.MayRead before.
func (l *LifeCycle) CancelBatch(ctx context.Context, id, reason string, limit int) (out Effect, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		var live []Evaluation
		// parked ones first, which would otherwise move into the queue
		query := tx.Omit("request", "result").Where("batch = ? and batch <> '' and "+NotEndedSQL, id).Order("parked desc, batch_index").Limit(limit)
		if err := query.Find(&live).Error; err != nil {
			return db.ReadError(err, "batch %s", id)
		}
		for i := range live {
			if err := stopWork(tx, &live[i], reason, &out); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}
