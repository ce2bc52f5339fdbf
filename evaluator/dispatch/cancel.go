package dispatch

import (
	"context"

	"warpboard/models/accounts"
	"warpboard/models/work"
)

// Cancel ends a live run at once, and has its worker stopped. The submitter and
// admins may. Conflict: the run has ended already.
func (d *Dispatcher) Cancel(ctx context.Context, actor accounts.User, runID int64) error {
	attempt, out, err := d.store.Work.CancelRun(ctx, actor, runID)
	return d.stop(out, err, attempt)
}

// CancelEvaluation does the same to an evaluation; its caller gets the reason.
func (d *Dispatcher) CancelEvaluation(ctx context.Context, id, reason string) error {
	attempt, out, err := d.store.Work.CancelEvaluation(ctx, id, reason)
	return d.stop(out, err, attempt)
}

// cancelledAtOnce is how many evaluations of a batch one transaction ends: others want to write, too.
const cancelledAtOnce = 100

// CancelBatch does the same to all evaluations of a batch that have not ended.
func (d *Dispatcher) CancelBatch(ctx context.Context, id, reason string) error {
	for {
		attempts, out, err := d.store.Work.CancelBatch(ctx, id, reason, cancelledAtOnce)
		if d.stop(out, err, attempts...) != nil || len(out.Evaluations) == 0 {
			return err
		}
	}
}

// CancelRejudge ends a rejudge of a task without effect, and stops its runs.
func (d *Dispatcher) CancelRejudge(ctx context.Context, actor accounts.User, taskID int64) error {
	attempts, out, err := d.store.CancelRejudge(ctx, actor, taskID)
	return d.stop(out, err, attempts...)
}

// stop follows a change that took attempts from their workers: "" is none. Without an error it is stored already; if the process
// dies here, a worker goes on until its next sync tells it to stop.
func (d *Dispatcher) stop(out work.Recorded, err error, attempts ...string) error {
	if err != nil {
		return err
	}
	announce(d.notify, out)
	d.Wake() // there may be room, and work that waits again
	for _, id := range attempts {
		if id == "" {
			continue
		}
		if err := d.queue.Cancel(id); err != nil {
			d.log.Error("stopping an attempt", "attempt", id, "err", err)
		}
	}
	return nil
}

// Kick disconnects a remote worker whose credential was revoked.
func (d *Dispatcher) Kick(worker string) { d.queue.Kick(worker) }
