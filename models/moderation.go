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

// runOfTask reads a run and its task.
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
	user, err := accounts.UserByID(tx, userID)
	return err == nil && task.VisibleTo(user), ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if db.KindOf(err) == db.NotFound {
		return nil
	}
	return err
}

// decideOnRun calls do for a run if the actor is the author of its task or an admin, and stores the reason.
func (s *Store) decideOnRun(ctx context.Context, actor accounts.User, right accounts.Action, runID int64, why string,
	do func(tx *gorm.DB, run work.Run, why string) ([]boards.ChangedBoard, error)) (changes []boards.ChangedBoard,
	err error) {
	if why, err = cleanAndCheckReason(why); err != nil {
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
		if err := actor.CheckPermission(right, accounts.OwnerIDs{AuthorID: task.OwnerID}); err != nil {
			return err
		}
		changes, err = do(tx, run, why)
		return err
	})
	return changes, err
}

// Disqualify removes a run from its board with a public reason. The person's next best run replaces it. It closes the
// run's flags.
func (s *Store) Disqualify(
	ctx context.Context, actor accounts.User, runID int64, why string,
) ([]boards.ChangedBoard, error) {
	return s.decideOnRun(ctx, actor, accounts.DisqualifyRun, runID, why, func(tx *gorm.DB, run work.Run, why string) ([]boards.ChangedBoard, error) {
		// A held run can be disqualified too, if a review finds a problem.
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

// Reinstate revokes a disqualification with a reason. The author of a task cannot revoke an admin's decision.
func (s *Store) Reinstate(
	ctx context.Context, actor accounts.User, runID int64, why string,
) ([]boards.ChangedBoard, error) {
	return s.decideOnRun(ctx, actor, accounts.DisqualifyRun, runID, why, func(tx *gorm.DB, run work.Run, why string) ([]boards.ChangedBoard, error) {
		// OwnerID is the person who disqualified the run, because only that person and admins may reinstate it.
		if err := actor.CheckPermission(accounts.ReinstateRun,
			accounts.OwnerIDs{OwnerID: run.DisqualifiedBy}); err != nil {
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

// storeDecision stores a decision about a run and all its consequences in one transaction: run, scores, entries,
// confirmation, and audit log. An entry depends only on its own person's runs, so only this person's entry is
// recomputed; records are rebuilt.
func (s *Store) storeDecision(
	tx *gorm.DB, actor accounts.User, run work.Run, act, why string, values map[string]any,
) ([]boards.ChangedBoard, error) {
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

// DeleteSubmission deletes a submission with its runs; the person's next best run becomes the entry. Deleting another
// person's submission requires a reason. Admins can delete every submission. Its owner cannot delete one that
// - has a disqualified run, which must stay visible,
// - counts for the hourly limit, which deleting would otherwise circumvent,
// - is being measured again or stopped, because the owner could otherwise choose the samples that count,
// - has an open flag raised by the site, because deleting would avoid the review.
//
// The samples of a submission that its owner deletes still count for their source (package samples). Workers stop
// running attempts after their next heartbeat.
func (s *Store) DeleteSubmission(
	ctx context.Context, actor accounts.User, id int64, why string,
) (changes []boards.ChangedBoard, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var sub submissions.Submission
		if err := tx.Take(&sub, id).Error; err != nil {
			return db.ReadError(err, "submission %d", id)
		}
		if err := actor.CheckPermission(accounts.DeleteSubmission,
			accounts.OwnerIDs{OwnerID: sub.UserID}); err != nil {
			return err
		}
		if sub.UserID != actor.ID {
			if why, err = cleanAndCheckReason(why); err != nil {
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

// deleteSubmission deletes a submission with its runs, sets its samples aside where needed, and updates scores and
// boards. Its samples may still count for its source (package samples).
func (s *Store) deleteSubmission(
	tx *gorm.DB, sub submissions.Submission, byOwner bool,
) (changes []boards.ChangedBoard, err error) {
	// The entries are read and samples set aside before the deletion, which also deletes runs, stages, events, rows of
	// artifacts, runs of turns, and flags by cascade. Files of artifacts stay until the next sweep.
	counted, err := boards.EntriesOfSubmission(tx, sub.ID)
	if err == nil {
		err = samples.SetAsideDeletedSamples(tx, sub.ID, byOwner)
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
	// The hourly limit counts rows (package submissions). The hour here must not be shorter than there; otherwise
	// deleting would circumvent the limit.
	if s.submissionLimits.SubmissionsPerHour > 0 && sub.CreatedAt.After(db.Now().Add(-time.Hour)) {
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
	// Reports by people do not count; otherwise anyone could prevent a deletion.
	var flagged int64
	err = tx.Model(&review.Flag{}).Where("run_id in (select id from runs where submission_id = ?) and user_id = 0 and closed_at is null", sub.ID).
		Count(&flagged).Error
	if err == nil && flagged > 0 {
		return db.Errorf(db.Conflict, "A run of submission %d is being reviewed. You can delete the submission after the review.", sub.ID)
	}
	return db.ReadError(err, "flags of submission %d", sub.ID)
}

// cancelTimeout limits the wait for the result of a cancelled run. Only the worker's result ends such an attempt, so if
// the worker died, the submission could otherwise never be deleted. Workers stop much sooner; ten minutes also cover a
// restart of the site.
const cancelTimeout = 10 * time.Minute

// checkNotMeasured returns an error with the measurements of a submission that are not complete, because of which it
// cannot be deleted.
func checkNotMeasured(tx *gorm.DB, submissionID int64) error {
	const runs = "in (select id from runs where submission_id = ?)"
	var confirmed, attempts int64
	err := tx.Model(&RerunOrder{}).Where("ended_at is null and (challenger_id "+runs+" or holder_id "+runs+")", submissionID, submissionID).Count(&confirmed).Error
	if err == nil {
		// The condition r.attempt_id = a.id excludes earlier attempts of a run, which may still be open.
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

const maxRenamesPerDay = 3 // limit for people who rename themselves; admins have none

// RenameUser changes a person's name: 1 to 40 visible characters that no other person uses.
func (s *Store) RenameUser(
	ctx context.Context, actor accounts.User, userID int64, name string,
) (changes []boards.ChangedBoard, err error) {
	if err := actor.CheckPermission(accounts.RenameUser, accounts.OwnerIDs{OwnerID: userID}); err != nil {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := checkRenames(tx, actor); err != nil {
			return err
		}
		if err := accounts.SetName(tx, actor, userID, name); err != nil {
			return err
		}
		changes, err = boards.IncrementBoardsOfPerson(tx, userID)
		return err
	})
	return changes, err
}

// The audit log is counted, so its entries of the last day must not be deleted.
func checkRenames(tx *gorm.DB, actor accounts.User) error {
	if actor.IsAdmin() {
		return nil
	}
	rate := quota.RateLimit{
		Max:         maxRenamesPerDay,
		Window:      24 * time.Hour,
		RefusalText: fmt.Sprintf("A name can be changed %d times a day.", maxRenamesPerDay),
	}
	return rate.Check(tx.Model(&accounts.AuditEntry{}).Where("actor_id = ? and act = 'rename'", actor.ID), "created_at")
}
