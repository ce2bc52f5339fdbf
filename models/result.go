package models

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
)

// Score is what a ranked run measured, in nanoseconds.
type Score struct {
	NS    float64
	StdNS float64 // sample standard deviation
	ErrNS float64 // standard error
}

// Recorded tells what storing a result changed.
type Recorded struct {
	Accepted bool       // false: the result counts no more, or came before
	Retried  bool       // our fault: the run is queued again
	Events   []RunEvent // for watchers
	Board    *BoardChange
}

// RecordResult ends an attempt: run, stages, artifacts, entry and the board's change number in one
// transaction. A result that came before or whose attempt is not the current one changes nothing;
// that of a cancelled run still leaves its stages. A score is only taken of a ranked run that is
// done. A wrong secret is Forbidden.
func (s *Store) RecordResult(ctx context.Context, r job.Result, score *Score) (Recorded, error) {
	artifacts, err := s.storeArtifacts(r)
	if err != nil {
		return Recorded{}, err
	}
	var out Recorded
	err = s.write(ctx, func(tx *gorm.DB) error {
		a, err := loadInFlight(tx, r.AttemptID)
		if err != nil || a == nil || a.EndedAt != nil {
			return err
		}
		if !a.hasSecret(r.Secret) || a.RunID != r.RunID {
			return Errorf(Forbidden, "The result of attempt %s came with a wrong secret.", r.AttemptID)
		}
		if err := keepStages(tx, a.RunID, a.ID, r.Stages); err != nil {
			return err
		}
		if err := keepArtifacts(tx, a.RunID, artifacts); err != nil {
			return err
		}
		if !a.current() {
			a.end(r.Outcome)
			return saving(tx.Save(&a.Attempt).Error, "attempt")
		}
		out, err = a.conclude(tx, r, score)
		return err
	})
	if err != nil {
		return Recorded{}, fmt.Errorf("recording the result of attempt %s: %w", r.AttemptID, err)
	}
	return out, nil
}

// LossOf says how the loss of an attempt counts that its worker reports.
func LossOf(r job.Result) Loss {
	switch {
	case r.Outcome == job.OutcomeReturned:
		return LossFree
	case r.Suspect:
		return LossCounts
	}
	return LossWaits
}

// conclude brings the run to its end, or back to the queue.
func (a *inFlight) conclude(tx *gorm.DB, r job.Result, score *Score) (Recorded, error) {
	a.take(r.Machine.Worker)
	a.run.Harness, a.run.Machine = clean(r.Harness), &r.Machine
	a.run.WallNS, a.run.ProgramNS = r.WallNS, r.ProgramNS
	switch {
	case r.Outcome == job.OutcomeDone:
		a.finish(StateDone, nil)
		if score != nil && a.run.Mode == job.ModeRanked {
			a.run.ScoreNS, a.run.StdNS, a.run.ErrNS = &score.NS, score.StdNS, score.ErrNS
			a.run.Clock = clockOf(r.Stages)
		}
	case r.Outcome == job.OutcomeFailed:
		a.finish(StateFailed, r.Failure)
	default: // handed back, lost, or cancelled by the worker and by nobody here
		return a.lose(tx, LossOf(r), r.Failure)
	}
	a.end(r.Outcome)
	if err := errors.Join(a.store(tx), tallyStages(tx, r.Stages), noteClocks(tx, a.run.ID, r.Stages)); err != nil {
		return Recorded{}, err
	}
	out := Recorded{Accepted: true}
	if err := a.follow(tx, &out); err != nil {
		return out, err
	}
	event, err := noteState(tx, a.run)
	out.Events = append(out.Events, event)
	if err == nil && a.run.ProfileOf != nil {
		out.Board, err = showProfile(tx, a.run)
	}
	if err != nil || !a.run.Valid() {
		return out, err
	}
	if err := noteRecord(tx, entryOf(a.run)); err != nil {
		return out, err
	}
	changed, err := refresh(tx, a.run.VersionID, a.run.Device, a.run.UserID)
	if err == nil && changed {
		out.Board, err = bump(tx, a.run.VersionID, a.run.Device)
	}
	return out, err
}
