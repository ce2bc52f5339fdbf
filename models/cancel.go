package models

import (
	"context"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
)

// CancelRun ends a live run. It returns the attempt whose job or work is to be stopped, "" if there is none.
// The submitter and admins may. Conflict: it has ended.
func (s *Store) CancelRun(ctx context.Context, actor User, runID int64) (attemptID string, out Recorded, err error) {
	return s.cancel(ctx, job.Ref{RunID: runID}, "", func(u unit) error {
		run, ok := u.(*Run)
		switch {
		case ok && (run.RerunID != nil || run.ConfirmationID != nil): // its person did not ask for it, and may fear the result
			return actor.Check(accounts.Rejudge, accounts.Of{})
		case ok:
			return actor.Check(accounts.CancelRun, accounts.Of{OwnerID: run.UserID})
		}
		return nil
	})
}

// CancelEvaluation does the same to an evaluation, with a reason for its caller. Who may is asked before: see
// Asker.MayChange.
func (s *Store) CancelEvaluation(ctx context.Context, id, reason string) (attemptID string, out Recorded, err error) {
	return s.cancel(ctx, job.Ref{EvaluationID: id}, reason, func(unit) error { return nil })
}

func (s *Store) cancel(ctx context.Context, ref job.Ref, reason string, may func(unit) error) (attemptID string, out Recorded, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := loadUnit(tx, ref)
		if err != nil {
			return err
		}
		if err := may(u); err != nil {
			return err
		}
		w := u.work()
		if w.EndedAt != nil {
			return Errorf(Conflict, "%s has ended already.", subject(ref))
		}
		attemptID, out.Accepted = w.AttemptID, true
		w.end()
		u.setCancelled(reason)
		if err := saveUnit(tx, u, attemptID); err != nil {
			return err
		}
		if w.StartedAt != nil {
			if err := u.countLoss(tx); err != nil {
				return err
			}
		}
		return u.announce(tx, &out)
	})
	return attemptID, out, err
}
