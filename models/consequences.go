package models

import (
	"errors"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

// runConsequences are the consequences of a run's end (see work.Consequences). For one result the order is Keep, Ended,
// Place, Settled, all in its transaction. A cancellation, or the last of too many losses, causes only Ended (and
// Settled, if a result reported the loss). The result of a run that was cancelled before causes Stopped and Settled. So
// a new rule must not rely on Settled or Place for each end.
type runConsequences struct{ store *Store }

// Keep stores what a result has, in this order. All steps are called even if one fails, because Join takes their
// values: an error undoes all of them. On PostgreSQL the steps after a failed statement add "current transaction is
// aborted"; the first error is the cause.
func (f runConsequences) Keep(tx *gorm.DB, run *work.Run, r job.Result, out *work.Effect) error {
	return errors.Join(
		storeSample(tx, run, r), // before anything may hold the run back
		holdRun(tx, run),
		noteClocks(tx, run.ID, r.Stages),
		noteLibraries(tx, run, r.Stages),
		noteContradiction(tx, run, r.Stages),
		storeScriptAnswer(tx, run, r, out),
		queueProfile(tx, run, out), // of a run that is not held; watchers see it before the run's own end
	)
}

// Ended notifies webhooks of a run that a person requested, continues confirmations and reruns, and ends validations.
func (f runConsequences) Ended(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	switch run.Purpose {
	case work.Submitted, work.Practice:
		return webhooks.StoreEvent(tx, webhooks.WebhookEvent{
			Kind:   webhooks.RunEnded,
			RunID:  run.ID,
			UserID: run.UserID,
		})
	case work.Validate:
		return endUnanswered(tx, run, out)
	case work.Confirm:
		return advanceConfirmation(tx, *run, out)
	case work.Rerun:
		if err := endRerun(tx, *run, out); err != nil {
			return err
		}
		// Settled does this again after a result, and then finds the confirmation open. It is needed here because a
		// cancelled or lost rerun may be the last of its board, and no result follows.
		return f.store.confirmAfterRun(tx, run, out)
	}
	return nil
}

// Place changes the boards: by a valid run, by a profile or a baseline that a board shows, or by what a run measured
// before it failed.
func (f runConsequences) Place(tx *gorm.DB, run *work.Run, r job.Result, out *work.Effect) (err error) {
	if run.Purpose == work.Profile {
		if out.Board, err = announceProfile(tx, *run); err != nil {
			return err
		}
	}
	if run.State == work.StateFailed {
		change, err := storeEndedSample(tx, run, r, failedReason)
		if err != nil {
			return err
		}
		if change != nil {
			out.Board = change
		}
	}
	if !run.Valid() {
		// Held, disqualified or unranked runs change no place. Only a baseline shows on a board without an entry.
		return announceBaseline(tx, run, out)
	}
	stands, err := scoreEnded(tx, run)
	if err != nil {
		return err
	}
	out.Board, err = boards.EnterRun(tx, stands.Entry(), stands.OnBoard != nil)
	if err != nil || out.Board == nil {
		return err
	}
	return errors.Join(tellOfRecord(tx, out.Board.Record), tellOfPlace(tx, run, out.Board))
}

// Stopped lets the measurements of a cancelled run count for its source: cancelling selects nothing.
func (f runConsequences) Stopped(tx *gorm.DB, run *work.Run, r job.Result) (*boards.Change, error) {
	return storeEndedSample(tx, run, r, cancelledReason)
}

// Settled measures the run that is now first of the board again.
func (f runConsequences) Settled(tx *gorm.DB, run *work.Run, out *work.Effect) error {
	return f.store.confirmAfterRun(tx, run, out)
}

// tellOfRecord notifies webhooks that a board has a new first, and names the former one.
func tellOfRecord(tx *gorm.DB, taken *boards.NewRecord) error {
	if taken == nil {
		return nil
	}
	e := webhooks.WebhookEvent{Kind: webhooks.RecordTaken, RunID: taken.RunID, UserID: taken.UserID}
	if taken.PreviousRecord != nil {
		e.FormerHolderID, e.Detail = taken.PreviousRecord.UserID, taken.PreviousRecord.ScoreNS
	}
	return webhooks.StoreEvent(tx, e)
}

// tellOfPlace records a person's new place on a board, for those who lost one by it.
func tellOfPlace(tx *gorm.DB, run *work.Run, change *boards.Change) error {
	e := webhooks.WebhookEvent{Kind: webhooks.PlaceTaken, RunID: run.ID, UserID: run.UserID}
	if r := change.Record; r != nil && r.PreviousRecord != nil {
		e.FormerHolderID = r.PreviousRecord.UserID
	}
	if change.PreviousEntry != nil {
		e.Detail = change.PreviousEntry.ScoreNS
	}
	return webhooks.StoreEvent(tx, e)
}

// announceBaseline notifies the board that its baseline has a score.
func announceBaseline(tx *gorm.DB, r *work.Run, out *work.Effect) (err error) {
	if r.Purpose == work.Baseline && r.ScoreNS != nil {
		out.Board, err = boards.IncrementChange(tx, r.VersionID, r.Device)
	}
	return err
}
