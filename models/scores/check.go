package scores

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"warpboard/evaluator/job"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/fleet"
	"warpboard/models/work"
	"warpboard/tasks"
)

// Scores computes the scores of results in one database.
type Scores struct {
	db      *db.DB
	work    *work.LifeCycle
	catalog *catalog.Catalog
	fleet   *fleet.Fleet
	log     *slog.Logger
}

// New returns a Scores for a database.
func New(database *db.DB, l *work.LifeCycle, c *catalog.Catalog, f *fleet.Fleet, log *slog.Logger) *Scores {
	return &Scores{db: database, work: l, catalog: c, fleet: f, log: log}
}

// ScoreResult computes the score of a result. If the result is inconsistent, Check changes it to a lost attempt, so
// that the work is tried again on another worker. It checks the arithmetic, not the measurement: the holder of a
// worker's credential can send any consistent times.
func (s *Scores) ScoreResult(ctx context.Context, result *job.Result) (work.ResultFindings, error) {
	if result.EvaluationID != "" {
		return evaluationFindings(result), nil
	}
	score, err := s.scoreOfRun(ctx, result)
	return work.ResultFindings{Score: score}, err
}

// scoreOfRun computes the score of a ranked run from its stages. It returns nil if the result has no score.
func (s *Scores) scoreOfRun(ctx context.Context, result *job.Result) (*work.Score, error) {
	if result.Outcome != job.OutcomePassed {
		return nil, nil
	}
	// The read precedes the transaction that stores the result. This is safe, because mode and version of a run never
	// change.
	run, err := s.work.Run(ctx, result.RunID)
	if db.KindOf(err) == db.NotFound {
		return nil, nil // the run was deleted in the meantime
	}
	if err != nil {
		return nil, err
	}
	version, err := s.catalog.Version(ctx, run.VersionID)
	if err != nil {
		return nil, err
	}
	mode, def := work.WorkerMode(run.Mode), version.Definition.ForDevice(run.Device)
	drawn, lost := def, false
	if mode == job.ModeRanked && def.HasRanges() { // other runs have their own cases, and no board compares them
		if drawn, lost, err = s.taskWithDrawnValues(ctx, def, result); err != nil || lost {
			return nil, err
		}
	}
	score, err := newScore(mode, def, drawn, *result)
	if err != nil {
		s.log.Error("result contradicts itself", "run", run.ID, "worker", result.Machine.Worker, "err", err)
		// The loss counts against the job: a kernel that manipulates its harness would do so each time, and three
		// losses end the run.
		result.Outcome, result.CausedByJob = job.OutcomeLost, true
		result.Failure = &job.Failure{
			Reason:                fmt.Sprintf("The worker %s sent a result that contradicts itself: %v.", result.Machine.Worker, err),
			IsInfrastructureError: true,
		}
		return nil, nil
	}
	return score, s.holdOnDriftingSlot(ctx, score, result.Machine)
}

// taskWithDrawnValues returns the task of a ranked result with the drawn values of its cases. If the values were drawn
// for other software than that of the measurement, it changes the result to a lost attempt, because the board compares
// runs with equal cases.
func (s *Scores) taskWithDrawnValues(
	ctx context.Context, def tasks.Definition, result *job.Result,
) (drawn tasks.Definition, lost bool, err error) {
	seed, same, err := s.AttemptSeed(ctx, result.AttemptID, epochs.SoftwareOfRun(result.Machine))
	if err != nil || same {
		return def.DrawValues(seed), false, err
	}
	result.Outcome, result.CausedByJob = job.OutcomeLost, true
	result.Failure = &job.Failure{IsInfrastructureError: true,
		Reason: fmt.Sprintf("The software of worker %s changed before it measured the run, whose cases were drawn for the software before.", result.Machine.Worker)}
	return def, true, nil
}

// holdOnDriftingSlot holds a score that was measured on a slot whose benchmarks drift. The run then does not count for
// the person's limits.
func (s *Scores) holdOnDriftingSlot(ctx context.Context, score *work.Score, m job.Machine) error {
	if score == nil {
		return nil
	}
	drift, err := s.fleet.DescribeDrift(ctx, m.Worker, m.UUIDHash)
	if drift != "" {
		score.DisturbedReason = "its slot has drifted"
		score.HeldReason = cmp.Or(score.HeldReason, "Its slot has drifted. "+drift)
	}
	return err
}
