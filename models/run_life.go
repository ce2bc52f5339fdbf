package models

import (
	"cmp"
	"errors"
	"strings"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/pools"
	"warpboard/models/webhooks"
)

// What a run does at the steps of its life that other work does not: states by stage, stages and files that are
// kept, a score, a place on a board, a profile that follows.

// Ref names the run as a unit of work.
func (r Run) Ref() job.Ref { return job.Ref{RunID: r.ID} }

func (r *Run) ref() job.Ref { return r.Ref() }

func (r *Run) work() *Work { return &r.Work }

func (r *Run) setWaiting(why *job.Failure) { r.State, r.Failure = StateQueued, why }

func (r *Run) setTaken() { r.State = StateBuilding }

func (r *Run) setStage(stage job.Stage) { r.State = stateOf(stage) }

func (r *Run) setDone(result job.Result, found Findings) {
	r.State, r.Failure, r.Infrastructure = StateDone, nil, false
	r.Numerics, r.EnergyJ = numericsOf(result.Stages), nil
	if e := result.Machine.Energy; e != nil && e.Joules > 0 {
		r.EnergyJ = &e.Joules
	}
	if score := found.Score; score != nil && Measured(r.Mode) == job.ModeRanked {
		r.ScoreNS, r.StdNS, r.ErrNS = &score.NS, score.StdNS, score.ErrNS
		r.Clock, r.Interval = clockOf(result.Stages), score.Interval
		r.Disturbed = cmp.Or(db.Sanitize(score.Disturbed), disturbedBy(result.Machine))
		r.Roof, r.HeldWhy = score.Roof, db.Sanitize(score.Held)
	}
}

// disturbedBy says why a score was measured under bad conditions; empty: the rule knows no reason.
func disturbedBy(m job.Machine) string {
	if m.Disturbances == nil {
		return ""
	}
	return db.Cut(db.Sanitize(strings.Join(m.Disturbances.Bad(), "; ")), 500)
}

// numericsOf is the worst of the tests.
func numericsOf(stages []job.StageResult) boards.Numerics {
	for _, stage := range stages {
		if stage.Stage != job.StageTest {
			continue
		}
		if worst := job.WorstNumerics(stage.Cases); worst != nil {
			return boards.Numerics{ErrorULP: &worst.ULPMax, ErrorRelative: &worst.RelativeMax}
		}
	}
	return boards.Numerics{}
}

func (r *Run) setFailed(why *job.Failure) {
	r.State, r.Failure, r.Infrastructure = StateFailed, why, why != nil && why.Infrastructure
}

func (r *Run) setCancelled(string) { r.State, r.Failure = StateCancelled, nil }

func (r *Run) cancelled() bool { return r.State == StateCancelled }

// stateOf gives the state of a run that is in a stage.
func stateOf(stage job.Stage) RunState {
	switch stage {
	case job.StageTest:
		return StateTesting
	case job.StageBenchmark:
		return StateBenchmarking
	case job.StageRanked, job.StageSecret:
		return StateRanking
	case job.StageProfile:
		return StateProfiling
	}
	return StateBuilding
}

func (r *Run) keep(tx *gorm.DB, attemptID string, result job.Result, artifacts []Artifact) error {
	if err := keepStages(tx, r.ID, attemptID, result.Stages); err != nil {
		return err
	}
	if Measured(r.Mode) == job.ModeRanked && result.Outcome == job.OutcomeDone {
		var err error
		if r.EpochID, err = epochs.Of(tx, softwareOf(result.Machine)); err != nil {
			return err
		}
	}
	return keepArtifacts(tx, r.ID, artifacts)
}

func (r *Run) setMeasured(result job.Result) {
	r.Harness, r.Machine = db.Sanitize(result.Harness), &result.Machine
	r.WallNS, r.ProgramNS = result.WallNS, result.ProgramNS
}

func (r *Run) save(tx *gorm.DB, attemptID string) (int64, error) {
	if r.ScoreNS != nil && r.ScoredAt == nil {
		r.ScoredAt = r.EndedAt
	}
	res := tx.Model(&Run{}).Where("id = ? and attempt_id = ? and "+live, r.ID, attemptID).Select("*").Omit("id").Updates(r)
	return res.RowsAffected, res.Error
}

func (r *Run) announce(tx *gorm.DB, out *Recorded) error {
	event, err := noteState(tx, *r)
	out.Events = append(out.Events, event)
	switch {
	case err != nil || !r.State.Final():
		return err
	case r.ProfileOf == nil && r.Mode != ModeBaseline: // somebody asked for it
		return webhooks.Note(tx, webhooks.WebhookEvent{Kind: webhooks.RunEnded, RunID: r.ID, UserID: r.UserID})
	case r.ConfirmationID != nil:
		return advanceConfirmation(tx, *r.ConfirmationID, out)
	case r.RerunID != nil:
		return endRerun(tx, *r, out)
	}
	return nil
}

func (r *Run) countLoss(*gorm.DB) error { return nil }

// afterResult brings the run onto its board. The profile that follows it is announced before the run's own end, so
// that a reader who has seen that one has missed nothing.
func (r *Run) afterResult(tx *gorm.DB, result job.Result, found Findings, out *Recorded) error {
	err := errors.Join(r.keepMeasurement(tx, result), r.flagHeld(tx), r.holdWithheld(tx), countStages(tx, result.Stages), noteClocks(tx, r.ID, result.Stages), r.state(tx, result, found.site), r.queueProfile(tx, out))
	if err != nil {
		return err
	}
	if err := r.announce(tx, out); err != nil {
		return err
	}
	if r.ProfileOf != nil && r.Mode == job.ModeProfile {
		if out.Board, err = showProfile(tx, *r); err != nil {
			return err
		}
	}
	if r.State == StateFailed {
		change, err := r.retain(tx, result, pools.Failed)
		if err != nil {
			return err
		}
		if change != nil {
			out.Board = change
		}
	}
	if !r.Valid() {
		return r.showBaseline(tx, out)
	}
	out.Board, err = r.enter(tx)
	if err != nil || out.Board == nil {
		return err
	}
	return tellOfRecord(tx, out.Board.Record)
}

// tellOfRecord tells other programs that a board has a new first, and who was it before.
func tellOfRecord(tx *gorm.DB, taken *boards.Taken) error {
	if taken == nil {
		return nil
	}
	e := webhooks.WebhookEvent{Kind: webhooks.RecordTaken, RunID: taken.RunID, UserID: taken.UserID}
	if taken.Before != nil {
		e.OtherID, e.Detail = taken.Before.UserID, taken.Before.ScoreNS
	}
	return webhooks.Note(tx, e)
}
