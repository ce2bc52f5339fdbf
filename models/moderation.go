package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/models/review"
	"warpboard/models/samples"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// runOfTask reads a run with its task.
func runOfTask(tx *gorm.DB, runID int64) (run work.Run, task catalog.Task, err error) {
	if err := tx.Take(&run, runID).Error; err != nil {
		return run, task, db.ReadError(err, "run %d", runID)
	}
	err = tx.Where("id = (select task_id from task_versions where id = ?)", run.VersionID).Take(&task).Error
	return run, task, db.ReadError(err, "task of run %d", runID)
}

// canSeeRun reports whether a person may see a run. It returns false if the person or the run no longer exists.
func canSeeRun(tx *gorm.DB, userID, runID int64) (bool, error) {
	_, task, err := runOfTask(tx, runID)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	user, err := accounts.Load(tx, userID)
	return err == nil && task.VisibleTo(user), ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if db.KindOf(err) == db.NotFound {
		return nil
	}
	return err
}

// decideOnRun does something to a run, for a reason that is stored, if the author of its task or an admin asks.
func (s *Store) decideOnRun(ctx context.Context, actor accounts.User, right accounts.Act, runID int64, why string,
	do func(tx *gorm.DB, run work.Run, why string) ([]boards.Change, error)) (changes []boards.Change, err error) {
	if why, err = cleanReason(why); err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		run, task, err := runOfTask(tx, runID)
		if err != nil {
			return err
		}
		var sub submissions.Submission
		if err := tx.Take(&sub, run.SubmissionID).Error; err != nil {
			return db.ReadError(err, "submission of run %d", runID)
		}
		if sub.HiddenFrom(actor) || !task.VisibleTo(actor) {
			return db.Errorf(db.NotFound, "There is no run %d.", runID)
		}
		if err := actor.Check(right, accounts.ObjectOwners{AuthorID: task.OwnerID}); err != nil {
			return err
		}
		changes, err = do(tx, run, why)
		return err
	})
	return changes, err
}

// Disqualify takes a run off its board for a reason that everyone can read; the person's next best run takes the
// place. It closes the run's flags.
func (s *Store) Disqualify(ctx context.Context, actor accounts.User, runID int64, why string) ([]boards.Change, error) {
	return s.decideOnRun(ctx, actor, accounts.DisqualifyRun, runID, why, func(tx *gorm.DB, run work.Run, why string) ([]boards.Change, error) {
		// A held run may be disqualified, too: a review that found a problem ends this way.
		if !run.Valid() && run.HeldReason == "" {
			return nil, db.Errorf(db.Conflict, "Run %d is not on any board, so it cannot be disqualified.", runID)
		}
		if _, err := review.CloseFlags(tx, actor.ID, runID, "disqualified"); err != nil {
			return nil, err
		}
		return s.storeDecision(tx, actor, run, "disqualify", why, map[string]any{
			"disqualified_at": db.Now(), "disqualified_why": why, "disqualified_by": actor.ID, "reinstated_why": "",
		})
	})
}

// Reinstate takes a disqualification back, for a reason that stays with the run. An author cannot take back what an
// admin decided.
func (s *Store) Reinstate(ctx context.Context, actor accounts.User, runID int64, why string) ([]boards.Change, error) {
	return s.decideOnRun(ctx, actor, accounts.DisqualifyRun, runID, why, func(tx *gorm.DB, run work.Run, why string) ([]boards.Change, error) {
		// OwnerID is here who decided, not whose run it is: the rule is "your own decision, or an admin".
		if err := actor.Check(accounts.ReinstateRun, accounts.ObjectOwners{OwnerID: run.DisqualifiedBy}); err != nil {
			return nil, err
		}
		if run.DisqualifiedAt == nil {
			return nil, db.Errorf(db.Conflict, "Run %d is not disqualified.", runID)
		}
		return s.storeDecision(tx, actor, run, "reinstate", why, map[string]any{
			"disqualified_at": (*time.Time)(nil), "disqualified_why": "", "disqualified_by": 0, "reinstated_why": why,
		})
	})
}

// storeDecision writes a decision about a run, with all its consequences. Row, scores, entries, confirmation, and audit
// are one transaction: a reader sees the decision with its reason and the new board, or neither. An entry depends only
// on its own person's runs, so recomputing this person is enough; records are rebuilt.
func (s *Store) storeDecision(tx *gorm.DB, actor accounts.User, run work.Run, act, why string, values map[string]any) ([]boards.Change, error) {
	if err := tx.Model(&run).Updates(values).Error; err != nil {
		return nil, fmt.Errorf("changing run %d: %w", run.ID, err)
	}
	if _, err := applyHolds(tx, runsOfEqualSource(tx, run)); err != nil {
		return nil, err
	}
	changes, err := s.recomputeAndConfirm(tx, []boards.Entry{{VersionID: run.VersionID, Device: run.Device, UserID: run.UserID}})
	if err != nil {
		return nil, err
	}
	return changes, accounts.WriteAudit(tx, actor, act, fmt.Sprintf("run %d", run.ID), why)
}

// DeleteSubmission removes a submission with its runs; boards fall back to the person's next best run. A reason is
// required for another person's submission. An owner, unlike an admin, cannot delete one that
//   - has a disqualified run, which stays visible,
//   - still counts for the hourly limit, or deleting would buy more submissions,
//   - is being measured again or stopped, or deleting would choose the samples that count,
//   - has an open flag of the site, or deleting would avoid the review.
//
// Samples of a submission that its owner deletes still count for their source (package samples). Running attempts are
// cancelled when their worker next reports.
func (s *Store) DeleteSubmission(ctx context.Context, actor accounts.User, id int64, why string) (changes []boards.Change, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var sub submissions.Submission
		if err := tx.Take(&sub, id).Error; err != nil {
			return db.ReadError(err, "submission %d", id)
		}
		if err := actor.Check(accounts.DeleteSubmission, accounts.ObjectOwners{OwnerID: sub.UserID}); err != nil {
			return err
		}
		if sub.UserID != actor.ID {
			if why, err = cleanReason(why); err != nil {
				return err
			}
		}
		if err := s.checkDeletable(tx, actor, sub); err != nil {
			return err
		}
		if changes, err = s.deleteSubmission(tx, sub, actor.ID == sub.UserID); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "delete submission", fmt.Sprintf("submission %d", id), why)
	})
	return changes, err
}

// deleteSubmission deletes it with all consequences; its samples may still count in the pool of its source.
func (s *Store) deleteSubmission(tx *gorm.DB, sub submissions.Submission, byOwner bool) (changes []boards.Change, err error) {
	// Both are read before the delete, which takes runs, stages, events, artifacts' rows, turns' runs, and flags with
	// it by cascade. The artifacts' files stay until the next sweep.
	counted, err := boards.EntriesOfSubmission(tx, sub.ID)
	if err == nil {
		err = samples.SetAside(tx, sub.ID, byOwner)
	}
	if err != nil {
		return nil, err
	}
	if err := tx.Delete(&sub).Error; err != nil {
		return nil, fmt.Errorf("deleting submission %d: %w", sub.ID, err)
	}
	if err := s.forgetConfirmations(tx); err != nil {
		return nil, err
	}
	return s.recomputeAndConfirm(tx, counted)
}

func (s *Store) checkDeletable(tx *gorm.DB, actor accounts.User, sub submissions.Submission) error {
	if actor.IsAdmin() {
		return nil
	}
	// Limits count rows (package submissions). Lowering this hour below theirs would make deleting a way around them.
	if s.limits.SubmissionsPerHour > 0 && sub.CreatedAt.After(db.Now().Add(-time.Hour)) {
		return db.Errorf(db.Conflict, "Submission %d still counts for the hourly limit; it can be deleted an hour after it was made.", sub.ID)
	}
	if err := checkNotMeasured(tx, sub.ID); err != nil {
		return err
	}
	var disqualified int64
	err := tx.Model(&work.Run{}).Where("submission_id = ? and disqualified_at is not null", sub.ID).Count(&disqualified).Error
	if err == nil && disqualified > 0 {
		return db.Errorf(db.Forbidden, "Submission %d has a disqualified run, which stays visible; only an admin may delete it.", sub.ID)
	}
	if err != nil {
		return db.ReadError(err, "runs of submission %d", sub.ID)
	}
	// People's reports do not count: a stranger could prevent a deletion.
	var flagged int64
	err = tx.Model(&review.Flag{}).Where("run_id in (select id from runs where submission_id = ?) and user_id = 0 and closed_at is null", sub.ID).
		Count(&flagged).Error
	if err == nil && flagged > 0 {
		return db.Errorf(db.Conflict, "A run of submission %d is being reviewed. You can delete the submission after the review.", sub.ID)
	}
	return db.ReadError(err, "flags of submission %d", sub.ID)
}

// cancelTimeout is the longest wait for the result of a cancelled run, whose worker may be gone.
// The attempt of a cancelled run is ended by its worker's result alone. If the worker died, no one ends it: without
// this bound the submission could never be deleted. Workers stop much sooner; ten minutes also cover a site that
// restarts.
const cancelTimeout = 10 * time.Minute

// checkNotMeasured names what is being measured of a submission, which therefore cannot be deleted.
func checkNotMeasured(tx *gorm.DB, submissionID int64) error {
	const runs = "in (select id from runs where submission_id = ?)"
	var confirmed, attempts int64
	err := tx.Model(&Order{}).Where("ended_at is null and (challenger_id "+runs+" or holder_id "+runs+")", submissionID, submissionID).Count(&confirmed).Error
	if err == nil {
		// r.attempt_id = a.id leaves attempts of earlier tries out, which may have stayed open in the same way.
		err = tx.Table("attempts a").Joins("join runs r on r.id = a.run_id and r.attempt_id = a.id").
			Where("r.submission_id = ? and r.mode <> 'validate' and a.taken_at is not null and a.ended_at is null and (r.ended_at is null or r.ended_at > ?)", submissionID, db.Now().Add(-cancelTimeout)).
			Count(&attempts).Error
	}
	switch {
	case err != nil:
		return db.ReadError(err, "runs of submission %d", submissionID)
	case confirmed > 0:
		return db.Errorf(db.Conflict, "A run of submission %d is being measured again, alternating with another run. You can delete the submission when that has ended.", submissionID)
	case attempts > 0:
		return db.Errorf(db.Conflict, "A run of submission %d is on a worker. Cancel it, and delete the submission when the worker has stopped it.", submissionID)
	}
	return nil
}

const renamesPerDay = 3 // of one person, by themselves

// Rename changes the name that boards show: 1 to 40 visible characters, not used by another.
func (s *Store) Rename(ctx context.Context, actor accounts.User, userID int64, name string) (changes []boards.Change, err error) {
	if err := actor.Check(accounts.Rename, accounts.ObjectOwners{OwnerID: userID}); err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkRenames(tx, actor); err != nil {
			return err
		}
		if err := accounts.SetName(tx, actor, userID, name); err != nil {
			return err
		}
		changes, err = boards.IncrementBoardsOf(tx, userID)
		return err
	})
	return changes, err
}

// The audit log is the count, so that its rows of the last day must not be pruned.
func checkRenames(tx *gorm.DB, actor accounts.User) error {
	if actor.IsAdmin() {
		return nil
	}
	rate := quota.RateLimit{
		Max:     renamesPerDay,
		Window:  24 * time.Hour,
		Refusal: fmt.Sprintf("A name can be changed %d times a day.", renamesPerDay),
	}
	return rate.Check(tx.Model(&accounts.Audit{}).Where("actor_id = ? and act = 'rename'", actor.ID), "created_at")
}
