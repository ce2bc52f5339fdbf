package dispatch

import (
	"context"

	"warpboard/models/accounts"
)

// Cancel ends a live run at once and stops it on its worker. The submitter and admins may. The error is a Conflict if
// the run has already ended.
func (d *Dispatcher) Cancel(ctx context.Context, actor accounts.User, runID int64) error {
	return d.announceEffect(d.store.Work.CancelRun(ctx, actor, runID))
}

// CancelEvaluation ends a live evaluation; its caller gets the reason.
func (d *Dispatcher) CancelEvaluation(ctx context.Context, id, reason string) error {
	defer d.Wake() // others of its caller can start now
	return d.announceEffect(d.store.Work.CancelEvaluation(ctx, id, reason))
}

// cancelBatchSize is the number of evaluations of a batch that one transaction ends, so that other writers do not wait.
const cancelBatchSize = 100

// CancelBatch ends all evaluations of a batch that have not ended.
func (d *Dispatcher) CancelBatch(ctx context.Context, id, reason string) error {
	defer d.Wake()
	for {
		out, err := d.store.Work.CancelBatch(ctx, id, reason, cancelBatchSize)
		if d.announceEffect(out, err) != nil || len(out.Evaluations) == 0 {
			return err
		}
	}
}

// CancelRerun ends a task's rejudge without effect and stops its runs.
func (d *Dispatcher) CancelRerun(ctx context.Context, actor accounts.User, taskID int64) error {
	return d.announceEffect(d.store.CancelRerun(ctx, actor, taskID))
}

// Kick disconnects a remote worker whose credential was revoked.
func (d *Dispatcher) Kick(worker string) { d.queue.Kick(worker) }
