package dispatch

import (
	"context"
	"fmt"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/scores"
	"warpboard/models/work"
)

// check computes the score of a result, and turns a result that contradicts itself into a lost attempt, so that the work is
// retried elsewhere. It checks the arithmetic, not the measurement: the holder of a worker's credential can send any
// consistent times.
func (d *Dispatcher) check(ctx context.Context, result *job.Result) (work.Findings, error) {
	if result.EvaluationID != "" {
		return checkReport(result), nil
	}
	score, err := d.checkScore(ctx, result)
	return work.Findings{Score: score}, err
}

// checkScore computes the score of a ranked run from its stages. A result without a score has none to check.
func (d *Dispatcher) checkScore(ctx context.Context, result *job.Result) (*work.Score, error) {
	if result.Outcome != job.OutcomeDone {
		return nil, nil
	}
	// Read outside the transaction that stores the result. Mode and version of a run never change, so that this cannot be
	// stale.
	run, err := d.store.Work.Run(ctx, result.RunID)
	if db.KindOf(err) == db.NotFound {
		return nil, nil // deleted since
	}
	if err != nil {
		return nil, err
	}
	version, err := d.store.Catalog.Version(ctx, run.VersionID)
	if err != nil {
		return nil, err
	}
	def := version.Definition.For(run.Device)
	drawn, lost, err := d.drawnFor(ctx, def, result)
	if err != nil || lost {
		return nil, err
	}
	score, err := scores.Of(work.Measured(run.Mode), def, drawn, *result)
	if err != nil {
		d.log.Error("result contradicts itself", "run", run.ID, "worker", result.Machine.Worker, "err", err)
		// Suspect: a kernel that confuses its harness would do so each time, and three losses end the run.
		result.Outcome, result.Suspect = job.OutcomeLost, true
		result.Failure = &job.Failure{Reason: fmt.Sprintf("The worker %s sent a result that contradicts itself: %v.", result.Machine.Worker, err), Infrastructure: true}
		return nil, nil
	}
	return score, d.holdDrifting(ctx, score, result.Machine)
}
