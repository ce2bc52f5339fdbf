package work

import (
	"context"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// CancelRun cancels an unfinished run. The submitter and admins may call it. It returns Conflict if the run has ended.
func (l *LifeCycle) CancelRun(ctx context.Context, actor accounts.User, runID int64) (Effect, error) {
	return l.cancel(ctx, job.WorkRef{RunID: runID}, "", func(u workItem) error {
		run, ok := u.(runItem)
		switch {
		// The site requested these runs, and their person may want to avoid the result.
		case ok && (run.Purpose == PurposeRerun || run.Purpose == PurposeConfirm || run.Purpose == PurposeProfile):
			return actor.CheckPermission(accounts.RerunTask, accounts.OwnerIDs{})
		case ok:
			run.CancelledByStaff = actor.ID != run.UserID
			return actor.CheckPermission(accounts.CancelRun, accounts.OwnerIDs{OwnerID: run.UserID})
		}
		return nil
	})
}

// CancelEvaluation cancels an unfinished evaluation, with a reason for its caller. Check Requester.MayChange before.
func (l *LifeCycle) CancelEvaluation(ctx context.Context, id, reason string) (Effect, error) {
	return l.cancel(ctx, job.WorkRef{EvaluationID: id}, reason, func(workItem) error { return nil })
}

func (l *LifeCycle) cancel(
	ctx context.Context, ref job.WorkRef, reason string, may func(workItem) error,
) (out Effect, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := l.loadWork(tx, ref)
		if err != nil {
			return err
		}
		if err := may(u); err != nil {
			return err
		}
		if u.work().EndedAt != nil {
			return db.Errorf(db.Conflict, "%s has ended already.", sentenceSubject(ref))
		}
		out.AttemptAccepted = true
		return stopWork(tx, u, reason, &out)
	})
	return out, err
}

// StopRun cancels an unfinished run inside the caller's transaction, without checking rights.
func (l *LifeCycle) StopRun(tx *gorm.DB, run *Run, out *Effect) error {
	return stopWork(tx, runItem{run, l.consequences}, "", out)
}

func stopWork(tx *gorm.DB, u workItem, reason string, out *Effect) error {
	w := u.work()
	if w.AttemptID != "" {
		out.StoppedAttempts = append(out.StoppedAttempts, w.AttemptID)
	}
	w.end()
	u.setCancelled(reason)
	if err := saveWork(tx, u, w.AttemptID); err != nil {
		return err
	}
	if w.StartedAt != nil {
		if err := u.countLoss(tx); err != nil {
			return err
		}
	}
	return u.announce(tx, out)
}
