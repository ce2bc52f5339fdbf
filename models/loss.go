package models

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// Postpone takes a current attempt away from a profile that stands in the way of other runs: its
// run is queued again, and nothing counts as lost. When the attempt is not the current one any
// more, nothing happens.
func (s *Store) Postpone(ctx context.Context, attemptID string) (out Recorded, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		a, err := loadInFlight(tx, attemptID)
		if err != nil || a == nil || !a.current() {
			return err
		}
		out, err = a.lose(tx, LossFree, &job.Failure{Reason: "The profile waits until nobody else needs the device."})
		return err
	})
	return out, err
}

// Abandon gives up a current attempt by our fault: its run is queued again, or fails once too many were
// lost. An attempt that no worker took does not count as lost. When the attempt is not the current one
// any more, nothing happens.
func (s *Store) Abandon(ctx context.Context, attemptID, reason string, loss Loss) (out Recorded, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		a, err := loadInFlight(tx, attemptID)
		if err != nil || a == nil || !a.current() {
			return err
		}
		out, err = a.lose(tx, loss, &job.Failure{Reason: reason, Ours: true})
		return err
	})
	return out, err
}

// lose ends the attempt and puts its run back to where it stood in the queue.
func (a *inFlight) lose(tx *gorm.DB, loss Loss, failure *job.Failure) (Recorded, error) {
	lost := job.Failure{Reason: "The worker gave the run up without saying why."}
	if failure != nil {
		lost = *failure
	}
	lost.Ours = true
	taken := a.TakenAt != nil
	if !taken {
		loss = LossFree
	}
	a.end(outcomeOf(loss, taken))
	retry := !a.run.Tries.lose(loss)
	if retry {
		a.run.State, a.run.Failure = StateQueued, &lost
		a.run.DispatchedAt, a.run.StartedAt = nil, nil
	} else {
		lost.Reason = fmt.Sprintf("The run was given up after %d attempts that failed by our fault, and costs you nothing. The last reason: %s",
			a.run.Retries, lost.Reason)
		a.finish(StateFailed, &lost)
	}
	if err := a.store(tx); err != nil {
		return Recorded{}, err
	}
	if retry {
		a.run.AttemptID = ""
		if err := tx.Model(&a.run).Update("attempt_id", "").Error; err != nil {
			return Recorded{}, fmt.Errorf("queuing run %d again: %w", a.run.ID, err)
		}
	}
	if retry && !taken {
		return Recorded{Accepted: true, Retried: true}, nil
	}
	event, err := noteState(tx, a.run)
	return Recorded{Accepted: true, Retried: retry, Events: []RunEvent{event}}, err
}

// outcomeOf is how an attempt ended that is given up. One that no worker took counts as lost in the queue.
func outcomeOf(loss Loss, taken bool) job.Outcome {
	if loss == LossFree && taken {
		return job.OutcomeReturned
	}
	return job.OutcomeLost
}

// CancelRun ends a live run. It returns the attempt whose job or work is to be stopped, "" if
// there is none, and the event for watchers. The submitter and admins may. Conflict: it has ended.
func (s *Store) CancelRun(ctx context.Context, actor User, runID int64) (attemptID string, event RunEvent, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		var run Run
		if err := tx.Take(&run, runID).Error; err != nil {
			return lookup(err, "run %d", runID)
		}
		if run.UserID != actor.ID && !actor.IsAdmin() {
			return Errorf(Forbidden, "Only the person who submitted run %d, and admins, may cancel it.", runID)
		}
		t := now()
		run.State, run.EndedAt, run.Failure = StateCancelled, &t, nil
		res := tx.Model(&Run{}).Where("id = ? and "+liveRun, runID).Select("state", "ended_at", "failure").Updates(&run)
		switch {
		case res.Error != nil:
			return fmt.Errorf("cancelling run %d: %w", runID, res.Error)
		case res.RowsAffected != 1:
			return Errorf(Conflict, "Run %d has ended already.", runID)
		}
		attemptID = run.AttemptID
		event, err = noteState(tx, run)
		return err
	})
	return attemptID, event, err
}
