package models

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/models/review"
	"warpboard/models/work"
)

// maxValidationsPerBoard is the number of leading entries per board that a validation script checks. Each check is a
// run of mode validate that follows the entry's run, with the priority of profiles.
const maxValidationsPerBoard = 10

// QueueValidations queues the validation script of a task for the leading entries of its boards, except those whose
// validation already waits. It returns the number of queued runs.
func (s *Store) QueueValidations(
	ctx context.Context, actor accounts.User, taskID int64,
) (out work.Effect, queued int, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		out, queued = work.Effect{}, 0
		task, script, err := validatableTask(tx, actor, taskID)
		if err != nil {
			return err
		}
		last, err := review.NewestValidationTime(tx, task.ID)
		if err != nil {
			return err
		}
		entries := 0
		for _, device := range task.Devices {
			var first []boards.Entry
			err := tx.Where("version_id = ? and device = ?", task.VersionID, device).Order("age, score_ns, run_id").Limit(maxValidationsPerBoard).Find(&first).Error
			if err != nil {
				return db.ReadError(err, "first entries of the board")
			}
			n, err := queueValidations(tx, actor, script, first, &out)
			if err != nil {
				return err
			}
			entries, queued = entries+len(first), queued+n
		}
		switch {
		case entries == 0:
			return db.Errorf(db.Conflict, "The boards of %s have no entries on which the script could run.", task.Title)
		case queued == 0:
			return db.Errorf(db.Conflict, "The script is already waiting for a worker, for the top %d entries of each board.", maxValidationsPerBoard)
		case !actor.IsAdmin() && time.Since(last) < validationInterval:
			return quota.RetryLaterError(last.Add(validationInterval), "The script ran less than an hour ago: try again in {wait}.")
		}
		return accounts.WriteAudit(tx, actor, "validate", "task "+task.Slug, fmt.Sprintf("version %s of the script, %d entries", script, queued))
	})
	return out, queued, err
}

// validationInterval is the minimum time between two calls of QueueValidations for a task, because these runs count for
// no one's budget.
const validationInterval = time.Hour

// validatableTask reads a task whose validation script the actor may run now, and the version that contains the script.
func validatableTask(tx *gorm.DB, actor accounts.User, taskID int64) (task catalog.Task, script string, err error) {
	if err := tx.Take(&task, taskID).Error; err != nil {
		return task, "", db.ReadError(err, "task %d", taskID)
	}
	if err := actor.CheckPermission(accounts.ValidateTask, accounts.OwnerIDs{AuthorID: task.OwnerID}); err != nil {
		return task, "", err
	}
	var version catalog.TaskVersion
	if err := tx.Take(&version, task.VersionID).Error; err != nil {
		return task, "", db.ReadError(err, "version %d", task.VersionID)
	}
	v := version.Definition.Validation
	switch {
	case v == nil:
		return task, "", db.Errorf(db.Conflict, "%s has no validation script: name one in task.yml, with the key validation.", task.Title)
	case task.Deadline == nil:
		return task, "", db.Errorf(db.Conflict, "The script runs on closed boards, and %s has no deadline: set one first.", task.Title)
	case task.AcceptsSubmissions(db.Now()):
		return task, "", db.Errorf(db.Conflict, "The script runs on closed boards, and %s is open until its deadline.", task.Title)
	}
	return task, v.Version, nil
}

func queueValidations(
	tx *gorm.DB, actor accounts.User, script string, entries []boards.Entry, out *work.Effect,
) (queued int, err error) {
	ids := make([]int64, len(entries))
	for i, e := range entries {
		ids[i] = e.RunID
	}
	waiting, err := review.WaitingValidations(tx, ids)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if slices.Contains(waiting, e.RunID) {
			continue
		}
		run := work.Run{SubmissionID: e.SubmissionID, VersionID: e.VersionID, UserID: e.UserID, Mode: job.ModeValidate, Purpose: work.PurposeValidate, ProfileOf: &e.RunID,
			Work: work.Work{Device: e.Device, QueuedAt: db.Now()}}
		if err := work.Enqueue(tx, &run, out); err != nil {
			return 0, err
		}
		v := review.EntryValidation{
			RunID:         e.RunID,
			ScriptRunID:   run.ID,
			ScriptVersion: script,
			AskedBy:       actor.ID,
			AskedAt:       db.Now(),
		}
		if err := review.RecordValidationRequest(tx, v); err != nil {
			return 0, err
		}
		queued++
	}
	return queued, nil
}

// storeScriptAnswer stores the validation answer in the result of a run.
func storeScriptAnswer(tx *gorm.DB, run *work.Run, r job.Result, out *work.Effect) error {
	if run.Purpose != work.PurposeValidate {
		return nil
	}
	answer, message := review.AnswerNone, "The worker ran no script: it may be of an older version."
	if run.Failure != nil {
		message = run.Failure.Reason
	}
	for _, stage := range r.Stages {
		if stage.Stage != job.StageValidate || len(stage.Cases) == 0 {
			continue
		}
		message = stage.Cases[0].Message
		switch stage.Status {
		case job.StatusPass:
			answer = review.AnswerApplies
		case job.StatusFail:
			answer = review.AnswerDoesNotApply
		}
	}
	return endValidation(tx, run, answer, message, out)
}

// endValidation stores an answer of a validation script and raises the board's change number.
func endValidation(tx *gorm.DB, run *work.Run, answer review.ValidationAnswer, message string, out *work.Effect) error {
	changed, err := review.EndValidation(tx, run.ID, answer, message)
	if err != nil || !changed {
		return err
	}
	out.ChangedBoard, err = boards.IncrementChangeNumber(tx, run.VersionID, run.Device)
	return err
}

// endUnansweredValidation ends the validation of a run that ended without a result.
func endUnansweredValidation(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	message := "An infrastructure error stopped the script."
	if run.State == work.StateCancelled {
		message = "The run of the script was cancelled."
	}
	return endValidation(tx, run, review.AnswerNone, message, out)
}
