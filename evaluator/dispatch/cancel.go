package dispatch

import (
	"context"

	"warpboard/models/accounts"
)

// Cancel ends a live run at once, and has its worker stopped. The submitter and
// admins may. Conflict: the run has ended already.
func (d *Dispatcher) Cancel(ctx context.Context, actor accounts.User, runID int64) error {
	return d.follow(d.store.Work.CancelRun(ctx, actor, runID))
}

// CancelEvaluation does the same to an evaluation; its caller gets the reason.
func (d *Dispatcher) CancelEvaluation(ctx context.Context, id, reason string) error {
	defer d.Wake() // others of its caller may take its place
	return d.follow(d.store.Work.CancelEvaluation(ctx, id, reason))
}

// cancelledAtOnce is how many evaluations of a batch one transaction ends: others want to write, too.
const cancelledAtOnce = 100

// CancelBatch does the same to all evaluations of a batch that have not ended.
func (d *Dispatcher) CancelBatch(ctx context.Context, id, reason string) error {
	defer d.Wake()
	for {
		out, err := d.store.Work.CancelBatch(ctx, id, reason, cancelledAtOnce)
		if d.follow(out, err) != nil || len(out.Evaluations) == 0 {
			return err
		}
	}
}

// CancelRejudge ends a rejudge of a task without effect, and stops its runs.
func (d *Dispatcher) CancelRejudge(ctx context.Context, actor accounts.User, taskID int64) error {
	return d.follow(d.store.CancelRejudge(ctx, actor, taskID))
}

// Kick disconnects a remote worker whose credential was revoked.
func (d *Dispatcher) Kick(worker string) { d.queue.Kick(worker) }
