package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/models"
	"warpboard/tasks"
)

// live lists the current attempts at runs and evaluations: they share workers and slots.
func (d *Dispatcher) live(ctx context.Context) ([]models.LiveAttempt, error) {
	runs, err := d.store.LiveAttempts(ctx)
	if err != nil {
		return nil, err
	}
	evaluations, err := d.store.LiveEvaluations(ctx)
	return append(runs, evaluations...), err
}

// publishAgain puts the job of a live attempt into the queue that may not be there.
func (d *Dispatcher) publishAgain(ctx context.Context, a models.LiveAttempt) error {
	if a.EvaluationID == "" {
		return d.publish(ctx, a.Attempt)
	}
	e, err := d.store.Evaluation(ctx, a.EvaluationID)
	if err != nil || e.AttemptID != a.ID {
		return err
	}
	return d.publishEvaluation(ctx, e)
}

// fillEvaluations sends up to n evaluations and returns how many. Somebody waits for each, so they go
// before runs; a limit per caller keeps them from taking all slots for long.
func (d *Dispatcher) fillEvaluations(ctx context.Context, device string, n int, now time.Time) (sent int, err error) {
	if n == 0 {
		return 0, nil
	}
	next, err := d.store.NextEvaluations(ctx, device, n, now)
	if err != nil {
		return 0, err
	}
	for _, e := range next {
		e, err := d.store.StartEvaluation(ctx, e.ID)
		if models.KindOf(err) == models.Conflict {
			continue // cancelled a moment ago
		}
		if err != nil {
			return sent, err
		}
		sent++
		if err := d.publishEvaluation(ctx, e); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// publishEvaluation puts an evaluation's job into the queue; see publish.
func (d *Dispatcher) publishEvaluation(ctx context.Context, e models.Evaluation) error {
	var avoid []string
	if e.Retries > 0 {
		avoid = avoided([]string{e.Worker}, d.offers[e.Device])
	}
	err := d.jobs.Publish(ctx, job.Job{
		Version: job.Version, AttemptID: e.AttemptID, Secret: e.Secret, Device: e.Device,
		Task:     tasks.Definition{Lang: tasks.LangPython, OwnHarness: true},
		Enqueued: e.CreatedAt, EvaluationID: e.ID, Evaluation: e.Request, Caller: e.Owner, Avoid: avoid,
	})
	switch {
	case err == nil:
		return d.store.EvaluationPublished(ctx, e.AttemptID)
	case errors.Is(err, queue.ErrTooLarge):
		e, _, err := d.store.EndEvaluation(ctx, models.EvaluationEnd{
			AttemptID: e.AttemptID, Secret: e.Secret, State: models.EvaluationFailed,
			Failure: "The request is larger than the queue carries.",
		})
		d.notify.EvaluationChanged(e)
		return err
	}
	return fmt.Errorf("publishing attempt %s at evaluation %s: %w", e.AttemptID, e.ID, err)
}

// takeBackEvaluation gives up an attempt by our fault; the evaluation waits again.
func (d *Dispatcher) takeBackEvaluation(ctx context.Context, attemptID string, lost loss) error {
	e, accepted, err := d.store.LoseEvaluation(ctx, attemptID, lost.reason, lost.counts)
	if err != nil || !accepted {
		return err
	}
	d.log.Warn("evaluation taken back", "attempt", attemptID, "reason", lost.reason, "state", e.State)
	d.notify.EvaluationChanged(e)
	d.Wake()
	return d.stop(ctx, attemptID)
}

// CancelEvaluation ends a live evaluation at once, and has its job dropped or its worker stopped.
// Conflict: it has ended already.
func (d *Dispatcher) CancelEvaluation(ctx context.Context, id, reason string) error {
	e, attemptID, err := d.store.CancelEvaluation(ctx, id, reason)
	if err != nil {
		return err
	}
	d.notify.EvaluationChanged(e)
	d.Wake()
	if attemptID == "" {
		return nil
	}
	if err := d.stop(ctx, attemptID); err != nil {
		// It is cancelled all the same: a worker that goes on is told at its next heartbeat.
		d.log.Error("stopping a cancelled evaluation", "attempt", attemptID, "err", err)
	}
	return nil
}
