package dispatch

import (
	"context"

	"warpboard/models/accounts"
)

// Cancel cancels an unfinished run and stops it on its worker. The submitter and admins may call it. It returns a
// Conflict error if the run has ended.
func (d *Dispatcher) Cancel(ctx context.Context, actor accounts.User, runID int64) error {
	return d.announceEffect(d.store.Work.CancelRun(ctx, actor, runID))
}

// CancelEvaluation cancels an unfinished evaluation with a reason for its caller.
func (d *Dispatcher) CancelEvaluation(ctx context.Context, id, reason string) error {
	defer d.Wake() // other evaluations of the caller can start now
	return d.announceEffect(d.store.Work.CancelEvaluation(ctx, id, reason))
}

// cancelBatchSize is the number of evaluations that one transaction cancels, so that other writers do not wait long.
const cancelBatchSize = 100

// CancelBatch cancels all unfinished evaluations of a batch.
func (d *Dispatcher) CancelBatch(ctx context.Context, id, reason string) error {
	defer d.Wake()
	for {
		out, err := d.store.Work.CancelBatch(ctx, id, reason, cancelBatchSize)
		if d.announceEffect(out, err) != nil || len(out.Evaluations) == 0 {
			return err
		}
	}
}

// CancelRerun ends the rerun order of a task without effect and stops its runs.
func (d *Dispatcher) CancelRerun(ctx context.Context, actor accounts.User, taskID int64) error {
	return d.announceEffect(d.store.CancelRerun(ctx, actor, taskID))
}

// DisconnectWorker disconnects a remote worker whose credential was revoked.
func (d *Dispatcher) DisconnectWorker(worker string) { d.queue.DisconnectWorker(worker) }
