package models

import (
	"errors"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

// runConsequences implements work.Consequences. For one result it is called in the order StoreResultData, ApplyEnd,
// UpdateBoard, ConfirmFirstPlace, in the result's transaction. A cancellation, and the last of too many losses, cause
// only ApplyEnd (and ConfirmFirstPlace, if a result reported the loss). The result of a run that was cancelled earlier
// causes StoreCancelledMeasurements and ConfirmFirstPlace. A new rule must therefore not expect ConfirmFirstPlace or
// UpdateBoard for each end.
type runConsequences struct{ store *Store }

// StoreResultData stores data from a result. All steps are called even if one fails, because errors.Join evaluates its
// arguments; the error rolls all of them back. On PostgreSQL the steps after a failed statement report "current
// transaction is aborted", so the first error is the cause.
func (f runConsequences) StoreResultData(tx *gorm.DB, run *work.Run, r job.Result, out *work.Effect) error {
	return errors.Join(
		storeSample(tx, run, r), // before the next step, which may hold the run
		applyHoldsAtEnd(tx, run),
		recordClocks(tx, run.ID, r.Stages),
		flagLibraryKernels(tx, run, r.Stages),
		flagContradictingProfile(tx, run, r.Stages),
		storeScriptAnswer(tx, run, r, out),
		// after the steps that can hold the run; open pages see the profile queued before the run ends
		queueProfile(tx, run, out),
	)
}

// ApplyEnd queues webhook events for a run that a person requested, continues confirmations and reruns, and ends
// validations.
func (f runConsequences) ApplyEnd(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	switch run.Purpose {
	case work.PurposeSubmitted, work.PurposePractice:
		return webhooks.StoreEvent(tx, webhooks.WebhookEvent{
			Kind:   webhooks.RunEnded,
			RunID:  run.ID,
			UserID: run.UserID,
		})
	case work.PurposeValidate:
		return endUnansweredValidation(tx, run, out)
	case work.PurposeConfirm:
		return advanceConfirmation(tx, *run, out)
	case work.PurposeRerun:
		if err := endRerun(tx, *run, out); err != nil {
			return err
		}
		// After a result, ConfirmFirstPlace repeats this and finds the confirmation open. The call is needed here,
		// because a cancelled or lost rerun may be the last one of its board, and no result follows it.
		return f.store.confirmAfterRun(tx, run, out)
	}
	return nil
}

// UpdateBoard updates the boards for a valid run, for a profile or a baseline that a board shows, or for the
// measurements of a failed run.
func (f runConsequences) UpdateBoard(tx *gorm.DB, run *work.Run, r job.Result, out *work.Effect) (err error) {
	if run.Purpose == work.PurposeProfile {
		if out.ChangedBoard, err = announceProfile(tx, *run); err != nil {
			return err
		}
	}
	if run.State == work.StateFailed {
		change, err := storeSampleOfEndedRun(tx, run, r, failedRunReason)
		if err != nil {
			return err
		}
		if change != nil {
			out.ChangedBoard = change
		}
	}
	if !run.Valid() {
		// Held, disqualified, and unranked runs do not change the board. Of runs without an entry, a board shows only
		// baselines.
		return announceBaseline(tx, run, out)
	}
	stands, err := scoreEndedRun(tx, run)
	if err != nil {
		return err
	}
	out.ChangedBoard, err = boards.EnterRun(tx, stands.BoardEntry(), stands.RepresentativeRunID != nil)
	if err != nil || out.ChangedBoard == nil {
		return err
	}
	return errors.Join(announceRecord(tx, out.ChangedBoard.NewRecord), announceNewRank(tx, run, out.ChangedBoard))
}

// StoreCancelledMeasurements stores the measurements of a cancelled run as samples of its source, so that cancelling
// slow runs gives no advantage.
func (f runConsequences) StoreCancelledMeasurements(tx *gorm.DB, run *work.Run, r job.Result) (*boards.ChangedBoard, error) {
	return storeSampleOfEndedRun(tx, run, r, cancelledRunReason)
}

// ConfirmFirstPlace starts a confirmation of the board's new 1st place.
func (f runConsequences) ConfirmFirstPlace(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	return f.store.confirmAfterRun(tx, run, out)
}

// announceRecord queues a webhook event about a board's new record and the previous holder.
func announceRecord(tx *gorm.DB, taken *boards.NewRecord) error {
	if taken == nil {
		return nil
	}
	e := webhooks.WebhookEvent{Kind: webhooks.RecordTaken, RunID: taken.RunID, UserID: taken.UserID}
	if taken.PreviousRecord != nil {
		e.FormerHolderID, e.Detail = taken.PreviousRecord.UserID, taken.PreviousRecord.ScoreNS
	}
	return webhooks.StoreEvent(tx, e)
}

// announceNewRank stores an event about a person's new rank, for the people who were overtaken.
func announceNewRank(tx *gorm.DB, run *work.Run, change *boards.ChangedBoard) error {
	e := webhooks.WebhookEvent{Kind: webhooks.PlaceTaken, RunID: run.ID, UserID: run.UserID}
	if r := change.NewRecord; r != nil && r.PreviousRecord != nil {
		e.FormerHolderID = r.PreviousRecord.UserID
	}
	if change.PreviousEntry != nil {
		e.Detail = change.PreviousEntry.ScoreNS
	}
	return webhooks.StoreEvent(tx, e)
}

// announceBaseline raises the change number of the board whose baseline has a score.
func announceBaseline(tx *gorm.DB, r *work.Run, out *work.Effect) (err error) {
	if r.Purpose == work.PurposeBaseline && r.ScoreNS != nil {
		out.ChangedBoard, err = boards.IncrementChangeNumber(tx, r.VersionID, r.Device)
	}
	return err
}
