package dispatch

import (
	"context"
	"fmt"
	"math"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/tasks"
)

// tolerance is how far, relatively, a worker's score may be from ours: they are the same sums,
// perhaps in another order.
const tolerance = 1e-9

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
	score, err := scoreOf(work.Measured(run.Mode), version.Definition.RankingBy, *result)
	if err != nil {
		d.log.Error("result contradicts itself", "run", run.ID, "worker", result.Machine.Worker, "err", err)
		// Suspect: a kernel that confuses its harness would do so each time, and three losses end the run.
		result.Outcome, result.Suspect = job.OutcomeLost, true
		result.Failure = &job.Failure{Reason: fmt.Sprintf("The worker %s sent a result that contradicts itself: %v.", result.Machine.Worker, err), Infrastructure: true}
		return nil, nil
	}
	compareWithUnit(score, version.Definition, *result)
	return score, d.holdDrifting(ctx, score, result.Machine)
}

// scoreOf returns the score of a result that claims to be done; nil in modes without one.
func scoreOf(mode job.Mode, ranking tasks.Ranking, result job.Result) (*work.Score, error) {
	var ranked *job.StageResult
	for i, stage := range result.Stages {
		if stage.Status != job.StatusPass {
			return nil, fmt.Errorf("it is done, but its stage %s ended with %q", stage.Stage, stage.Status)
		}
		if stage.Stage == job.StageRanked {
			ranked = &result.Stages[i]
		}
	}
	if mode != job.ModeRanked {
		return nil, nil
	}
	if ranked == nil {
		return nil, fmt.Errorf("it is done, but has no ranked stage")
	}
	ns, err := harness.Score(ranking, ranked.Cases)
	if err != nil {
		return nil, err
	}
	if said := result.ScoreNS; said != nil && math.Abs(*said-ns) > tolerance*ns {
		return nil, fmt.Errorf("it states %v ns, but its cases give %v ns", *said, ns)
	}
	std, stderr := spread(ranking, ns, ranked.Cases)
	score := &work.Score{NS: ns, StdNS: std, ErrNS: stderr}
	if i, measured := harness.ScoreInterval(ranking, ns, ranked.Cases); measured {
		score.Interval = boards.Interval{Processes: i.Processes, Noisy: i.Noisy}
		if i.High > 0 {
			score.LowNS, score.HighNS = &i.Low, &i.High
		}
	}
	return score, nil
}

// spread carries the cases' standard deviation and standard error over to the score, taking the
// cases as independent.
func spread(ranking tasks.Ranking, score float64, cases []job.CaseResult) (std, stderr float64) {
	if last := cases[len(cases)-1]; ranking != tasks.RankMean && ranking != tasks.RankGeom {
		return last.Std, last.Err
	}
	for _, c := range cases {
		weight := 1 / float64(len(cases))
		if ranking == tasks.RankGeom {
			weight *= score / c.Time()
		}
		std, stderr = math.Hypot(std, weight*c.Std), math.Hypot(stderr, weight*c.Err)
	}
	return std, stderr
}
