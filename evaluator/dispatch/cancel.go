package dispatch

import (
	"context"

	"warpboard/models/accounts"
	"warpboard/models/work"
)

// Cancel ends a live run at once, and has its worker stopped. The submitter and
// admins may. Conflict: the run has ended already.
func (d *Dispatcher) Cancel(ctx context.Context, actor accounts.User, runID int64) error {
	attemptID, out, err := d.store.Work.CancelRun(ctx, actor, runID)
	if err != nil {
		return err
	}
	d.afterCancel(attemptID, out)
	return nil
}

// CancelEvaluation does the same to an evaluation; its caller gets the reason.
func (d *Dispatcher) CancelEvaluation(ctx context.Context, id, reason string) error {
	attemptID, out, err := d.store.Work.CancelEvaluation(ctx, id, reason)
	if err != nil {
		return err
	}
	d.afterCancel(attemptID, out)
	return nil
}

// cancelledAtOnce is how many evaluations of a batch one transaction ends: others want to write, too.
const cancelledAtOnce = 100

// CancelBatch does the same to all evaluations of a batch that have not ended.
func (d *Dispatcher) CancelBatch(ctx context.Context, id, reason string) error {
	for {
		attempts, out, err := d.store.Work.CancelBatch(ctx, id, reason, cancelledAtOnce)
		if err != nil || len(out.Evaluations) == 0 {
			return err
		}
		d.afterCancel("", out)
		for _, attempt := range attempts {
			d.afterCancel(attempt, work.Recorded{})
		}
	}
}

// CancelRejudge ends a rejudge of a task without effect, and stops its runs.
func (d *Dispatcher) CancelRejudge(ctx context.Context, actor accounts.User, taskID int64) error {
	attempts, out, err := d.store.CancelRejudge(ctx, actor, taskID)
	if err != nil {
		return err
	}
	d.afterCancel("", out)
	for _, id := range attempts {
		d.afterCancel(id, work.Recorded{})
	}
	return nil
}

// afterCancel stops the attempt at work that is cancelled in the store; "" is none.
func (d *Dispatcher) afterCancel(attemptID string, out work.Recorded) {
	// The store has decided already. If the process dies here, the row is cancelled and the worker goes on until its next
	// sync tells it to stop.
	announce(d.notify, out)
	d.Wake()
	if attemptID == "" {
		return
	}
	if err := d.jobs.Cancel(attemptID); err != nil {
		d.log.Error("stopping a cancelled attempt", "attempt", attemptID, "err", err)
	}
}

// Kick disconnects a remote worker whose credential was revoked.
func (d *Dispatcher) Kick(worker string) { d.jobs.Kick(worker) }
