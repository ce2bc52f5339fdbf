package work

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/quota"
)

// rowsPerInsert is the number of evaluations in one insert statement. SQLite allows 32,766 parameters.
const rowsPerInsert = 250

// NewBatch describes evaluations of one caller that are submitted together.
type NewBatch struct {
	Requester
	Caller     string // person or address that the limits apply to
	RequestKey string // idempotency key
	Limits     EvaluationLimits
	Items      []BatchItem
}

// BatchItem is one request of a batch with its result: an evaluation, or an error.
type BatchItem struct {
	Index      int // index of the request
	Request    NewEvaluation
	Evaluation Evaluation
	Err        error
}

// SubmitBatch queues the evaluations of a batch in one transaction, and sets the result of each item. It returns "" if
// all were refused. A repeated batch with the same key returns the first batch.
func (l *LifeCycle) SubmitBatch(ctx context.Context, in NewBatch) (id string, err error) {
	if err := CheckRequestKey(in.RequestKey); err != nil {
		return "", err
	}
	in.prepareRows()
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		// omit the results: 1,000 of them may have gigabytes
		before, err := evaluationsSentBefore(tx.Omit("result"), in.Requester, in.RequestKey)
		if err != nil {
			return err
		}
		if len(before) > 0 {
			id = before[0].BatchID
			return in.reuseEarlierEvaluations(before)
		}
		if err := checkEvaluationsOn(tx); err != nil {
			return err
		}
		taken, err := in.takeWithinLimits(tx)
		if err != nil || len(taken) == 0 {
			return err
		}
		measured, err := shareResults(tx, in.Requester, taken)
		if err != nil {
			return err
		}
		if err := in.parkExcess(tx, taken); err != nil {
			return err
		}
		id = taken[0].BatchID
		for rows := range slices.Chunk(taken, rowsPerInsert) {
			if err := tx.Create(&rows).Error; err != nil {
				return db.WriteError(err, "the evaluations of a batch")
			}
		}
		for _, same := range measured {
			// new evaluations have no watchers, so the Effect is dropped
			if err := same.endSharers(tx, &Effect{}); err != nil {
				return err
			}
		}
		return AddToCounters(tx, CounterSample{Name: CounterEvaluationsSubmitted, OccurrenceCount: len(taken)})
	})
	return id, err
}

// prepareRows fills in the rows before the transaction.
func (in *NewBatch) prepareRows() {
	id := uuid.NewString()
	for i := range in.Items {
		item := &in.Items[i]
		item.Request.User, item.Request.Owner, item.Request.Caller, item.Request.RequestKey = in.User, in.Owner, in.Caller,
			in.RequestKey
		item.Evaluation = item.Request.row()
		item.Evaluation.BatchID, item.Evaluation.BatchIndex = id, item.Index
	}
}

// takeWithinLimits returns the evaluations within the caller's limits, and sets an error for the others.
func (in *NewBatch) takeWithinLimits(tx *gorm.DB) (taken []Evaluation, err error) {
	hour, err := in.Limits.readHourlyUse(tx, in.User, in.Caller)
	if err != nil {
		return nil, err
	}
	budget := map[string]error{} // error of the GPU budget, by device
	var full error               // error of the hourly limit; applies to all further items
	for i := range in.Items {
		item := &in.Items[i]
		if _, known := budget[item.Request.Device]; !known {
			budget[item.Request.Device] = quota.CheckBudget(tx, in.User, item.Request.Device)
		}
		if item.Err = budget[item.Request.Device]; item.Err == nil && full == nil {
			item.Err = hour.addRequest(item.Evaluation.RequestBytes)
			full = item.Err
		} else if item.Err == nil {
			item.Err = full
		}
		if item.Err != nil && db.KindOf(item.Err) != db.TooMany {
			return nil, item.Err
		}
		if item.Err == nil {
			taken = append(taken, item.Evaluation)
		}
	}
	return taken, nil
}

// parkExcess keeps evaluations out of the queue that exceed the number that the caller may have in it, by device.
func (in *NewBatch) parkExcess(tx *gorm.DB, taken []Evaluation) error {
	if in.Limits.MaxLive <= 0 {
		return nil
	}
	var queued []struct {
		Device string
		Count  int
	}
	err := tx.Model(&Evaluation{}).Where("caller = ? and batch <> '' and parked = 0 and "+NotEndedSQL, in.Caller).Group("device").
		Select("device, count(*) as count").Scan(&queued).Error
	if err != nil {
		return db.ReadError(err, "the batches of a caller")
	}
	held := map[string]int{}
	for _, q := range queued {
		held[q.Device] = q.Count
	}
	for i := range taken {
		e := &taken[i]
		if e.ParkedReason == parkedForEqualRequest {
			continue
		}
		if held[e.Device]++; held[e.Device] > in.Limits.MaxLive {
			e.ParkedReason = parkedByLimit
		}
	}
	return nil
}

// reuseEarlierEvaluations sets the items' results to the evaluations of an earlier request with the same key.
func (in *NewBatch) reuseEarlierEvaluations(before []Evaluation) error {
	if before[0].BatchID == "" {
		return checkSameRequest(false)
	}
	made := map[int]Evaluation{}
	for _, e := range before {
		made[e.BatchIndex] = e
	}
	same := 0
	for i := range in.Items {
		item := &in.Items[i]
		e, found := made[item.Index]
		switch {
		case !found:
			item.Err = db.Errorf(db.Conflict, "It was refused when the batch was first sent: send it in another batch, with a new idempotency key.")
		case e.hasSameRequest(item.Evaluation):
			item.Evaluation = e
			same++
		}
	}
	return checkSameRequest(same == len(before))
}
