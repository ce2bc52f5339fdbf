package work

import (
	"context"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Batch is evaluations that were sent together.
type Batch struct {
	ID     string
	UserID int64
	Owner  string
	Size   int // how many are stored
	Live   int // of them, that have not ended
}

// MayRead reports whether the asker may read the results of a batch, or cancel it: its caller and admins. What is shared are
// single evaluations.
func (b Batch) MayRead(a Asker) bool {
	return a.MayChange(Evaluation{UserID: b.UserID, Owner: b.Owner})
}

// Batch says whose a batch is, and how far it is. NotFound: none of its evaluations is stored.
func (l *LifeCycle) Batch(ctx context.Context, id string) (b Batch, err error) {
	res := l.db.Read(ctx).Model(&Evaluation{}).Where("batch = ? and batch <> ''", id).Group("batch, user_id, owner").
		Select("batch as id, user_id, owner, count(*) as size, sum(case when ended_at is null then 1 else 0 end) as live").Scan(&b)
	if res.Error == nil && res.RowsAffected == 0 {
		return b, db.Errorf(db.NotFound, "There is no batch %.80s.", id)
	}
	return b, db.ReadError(res.Error, "batch %s", id)
}

// BatchResults lists ended evaluations of a batch in the order of their ends: the first ones after so many.
func (l *LifeCycle) BatchResults(ctx context.Context, id string, after int64, limit int) (list []Evaluation, err error) {
	err = l.db.Read(ctx).Where("batch = ? and batch <> '' and batch_result > ?", id, max(after, 0)).
		Order("batch_result").Limit(limit).Find(&list).Error
	return list, db.ReadError(err, "the results of batch %s", id)
}

// leaveBatch gives an evaluation that ends its place among the results of its batch, and the next one its place in the queue.
// Transactions that write take turns, so a result that is visible later has a higher number.
func (e *Evaluation) leaveBatch(tx *gorm.DB) error {
	if e.Batch == "" || e.EndedAt == nil || e.BatchResult > 0 {
		return nil
	}
	err := tx.Model(&Evaluation{}).Where("batch = ? and batch <> ''", e.Batch).Select("coalesce(max(batch_result), 0) + 1").Scan(&e.BatchResult).Error
	if err != nil || e.Parked == 1 {
		return db.ReadError(err, "the results of batch %s", e.Batch)
	}
	next := tx.Model(&Evaluation{}).Select("id").Where("device = ? and caller = ? and "+Live+" and parked = 1", e.Device, e.Caller).
		Order("queued_at, id").Limit(1)
	return db.WriteError(tx.Model(&Evaluation{}).Where("id = (?)", next).Update("parked", 0).Error, "the next evaluation of a batch")
}

// CancelBatch ends some evaluations of a batch, at most so many, with a reason for their caller. It returns the attempts that
// are to be stopped. Who may is asked before: see Batch.MayRead.
func (l *LifeCycle) CancelBatch(ctx context.Context, id, reason string, limit int) (attempts []string, out Recorded, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		var live []Evaluation
		query := tx.Omit("request", "result").Where("batch = ? and batch <> '' and "+Live, id).Order("parked desc, batch_index").Limit(limit) // or the parked ones would take the places of the others
		if err := query.Find(&live).Error; err != nil {
			return db.ReadError(err, "batch %s", id)
		}
		for i := range live {
			if live[i].AttemptID != "" {
				attempts = append(attempts, live[i].AttemptID)
			}
			if err := stop(tx, &live[i], reason, &out); err != nil {
				return err
			}
		}
		return nil
	})
	return attempts, out, err
}
