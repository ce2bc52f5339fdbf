package work

import (
	"cmp"
	"errors"
	"strings"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/epochs"
)

// Steps that only runs have: states by stage, stored stages and files, and a score. Consequences applies the
// consequences of their end.

// runItem is a run as a workItem.
type runItem struct {
	*Run
	consequences Consequences
}

// WorkRef returns the reference of the run.
func (r Run) WorkRef() job.WorkRef { return job.WorkRef{RunID: r.ID} }

func (r *Run) ref() job.WorkRef { return r.WorkRef() }

func (r *Run) work() *Work { return &r.Work }

func (r *Run) setWaiting(why *job.Failure) { r.State, r.Failure = StateQueued, why }

func (r *Run) setReceived() { r.State = StateBuilding }

func (r *Run) setStage(stage job.Stage) { r.State = runStateDuring(stage) }

func (r *Run) setDone(result job.Result, found ResultFindings) {
	r.State, r.Failure, r.InfrastructureError = StateDone, nil, false
	r.NumericalErrors = largestErrors(result.Stages)
	if score := found.Score; score != nil && WorkerMode(r.Mode) == job.ModeRanked {
		r.ScoreNS, r.DeviationNS, r.StandardErrorNS = &score.NS, score.DeviationNS, score.StandardErrorNS
		r.ClockName, r.Interval = scoreClockNames(result.Stages), score.Interval
		r.DisturbedReason = cmp.Or(db.SanitizeText(score.DisturbedReason), disturbedReason(result.Machine))
		r.PeakMemoryBytes = peakMemory(result.Stages)
		r.RooflineShare, r.HeldReason = score.RooflineShare, db.SanitizeText(score.HeldReason)
	}
}

// disturbedReason returns the bad conditions during a measurement, or "".
func disturbedReason(m job.Machine) string {
	if m.Disturbances == nil {
		return ""
	}
	return db.CutText(db.SanitizeText(strings.Join(m.Disturbances.Reasons(), "; ")), 500)
}

// peakMemory returns the peak memory of the ranked stage in bytes, or nil if it was not measured.
func peakMemory(stages []job.StageResult) *int64 {
	for _, stage := range stages {
		if stage.Stage == job.StageRanked && stage.MemoryPeak > 0 {
			return &stage.MemoryPeak
		}
	}
	return nil
}

// largestErrors returns the largest errors of all tests.
func largestErrors(stages []job.StageResult) boards.NumericalErrors {
	for _, stage := range stages {
		if stage.Stage != job.StageTest {
			continue
		}
		if worst := job.WorstNumericError(stage.Cases); worst != nil {
			return boards.NumericalErrors{ErrorULP: &worst.ULPMax, ErrorRelative: &worst.RelativeMax}
		}
	}
	return boards.NumericalErrors{}
}

func (r *Run) setFailed(why *job.Failure) {
	r.State, r.Failure, r.InfrastructureError = StateFailed, why, why != nil && why.IsInfrastructureError
}

func (r *Run) setCancelled(string) { r.State, r.Failure = StateCancelled, nil }

func (r *Run) cancelled() bool { return r.State == StateCancelled }

// runStateDuring returns the state of a run during a stage.
func runStateDuring(stage job.Stage) RunState {
	switch stage {
	case job.StageTest:
		return StateTesting
	case job.StageBenchmark:
		return StateBenchmarking
	case job.StageRanked, job.StageSecret:
		return StateRanking
	case job.StageProfile:
		return StateProfiling
	case job.StageSanitize:
		return StateSanitizing
	case job.StageValidate:
		return StateRunningValidationScript
	}
	return StateBuilding
}

func (r *Run) keepResult(tx *gorm.DB, attemptID string, result job.Result, artifacts []Artifact) error {
	if err := storeStages(tx, r.ID, attemptID, result.Stages); err != nil {
		return err
	}
	if WorkerMode(r.Mode) == job.ModeRanked && result.Outcome == job.OutcomePassed {
		var err error
		if r.EpochID, err = epochs.FindOrCreateID(tx, epochs.SoftwareOfRun(result.Machine)); err != nil {
			return err
		}
	}
	return storeArtifactRows(tx, r.ID, artifacts)
}

func (r *Run) setMeasured(result job.Result) {
	r.Harness, r.Machine = db.SanitizeText(result.HarnessName), &result.Machine
	r.WallNS, r.ProgramNS = result.WallNS, result.ProgramNS
}

func (r *Run) save(tx *gorm.DB, attemptID string) (int64, error) {
	if r.ScoreNS != nil && r.ScoredAt == nil {
		r.ScoredAt = r.EndedAt
	}
	res := tx.Model(&Run{}).Where("id = ? and attempt_id = ? and "+NotEndedSQL, r.ID, attemptID).Select("*").Omit("id").Updates(r)
	return res.RowsAffected, res.Error
}

func (u runItem) announce(tx *gorm.DB, out *Effect) error {
	event, err := storeState(tx, *u.Run)
	out.Events = append(out.Events, event)
	if err != nil || !u.State.IsFinal() {
		return err
	}
	return u.consequences.ApplyEnd(tx, u.Run, out)
}

func (r *Run) countLoss(*gorm.DB) error { return nil }

// applyConsequences announces the end of the run after its samples are stored and before it gets a place on the board,
// so that a reader who sees the end sees all its data.
func (u runItem) applyConsequences(tx *gorm.DB, r job.Result, _ ResultFindings, out *Effect) error {
	if err := errors.Join(countStages(tx, r.Stages), u.consequences.StoreResultData(tx, u.Run, r, out)); err != nil {
		return err
	}
	if err := u.announce(tx, out); err != nil {
		return err
	}
	return u.consequences.UpdateBoard(tx, u.Run, r, out)
}

func (u runItem) confirmFirstPlace(tx *gorm.DB, out *Effect) error {
	return u.consequences.ConfirmFirstPlace(tx, u.Run, out)
}

func (u runItem) applyCancelledResult(tx *gorm.DB, r job.Result) (*boards.ChangedBoard, error) {
	return u.consequences.StoreCancelledMeasurements(tx, u.Run, r)
}

// scoreClockNames returns the names of the clocks by which the cases of a score were timed.
func scoreClockNames(stages []job.StageResult) string {
	counts := map[job.Clock]bool{}
	for _, stage := range stages {
		if stage.Stage == job.StageRanked {
			for _, c := range stage.Cases {
				counts[c.ClockTimes.CountedClock] = true
			}
		}
	}
	return ClockNames(counts)
}

// ClockNames joins the names of clocks in a fixed order ("event+wall"). It returns "" if a clock is unknown.
func ClockNames(clocks map[job.Clock]bool) string {
	if clocks[""] {
		return ""
	}
	var names []string
	for _, clock := range []job.Clock{job.ClockEvent, job.ClockWall, job.ClockSnapshot} {
		if clocks[clock] {
			names = append(names, string(clock))
		}
	}
	return strings.Join(names, "+")
}
