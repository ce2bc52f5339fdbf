// Package scores turns a worker's result, which the site does not trust, into the site's findings: for a run, the
// score, its spread, and its distance from the device's limits; for an evaluation, its final state and the values for
// its counters.
//
// Read check.go first: ScoreResult compares a result with the site's data of the run, and refuses one that contradicts
// itself. score.go and roof.go compute from the result and the task alone; evaluation.go reads the report of an
// evaluation.
package scores

import (
	"fmt"
	"math"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/tasks"
)

// maxScoreError is the largest allowed relative difference between the worker's score and the recomputed one, which may
// add the same numbers in another order.
const maxScoreError = 1e-9

// newScore returns the score of a successful result, compared with the benchmark of its slot. It returns nil in modes
// without a score, and an error if the result is inconsistent. drawn is the task with the drawn values of its cases.
func newScore(mode job.Mode, def, drawn tasks.Definition, result job.Result) (*work.Score, error) {
	score, err := scoreOf(mode, def.RankingBy, result)
	compareWithSlotBenchmark(score, def, drawn, result)
	return score, err
}

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
	if stated := result.ScoreNS; stated != nil && math.Abs(*stated-ns) > maxScoreError*ns {
		return nil, fmt.Errorf("it states %v ns, but its cases give %v ns", *stated, ns)
	}
	std, stderr := scoreDeviation(ranking, ns, ranked.Cases)
	score := &work.Score{NS: ns, DeviationNS: std, StandardErrorNS: stderr}
	if i, measured := harness.ScoreInterval(ranking, ns, ranked.Cases); measured {
		score.Interval = toBoardInterval(i)
	}
	return score, nil
}

// toBoardInterval converts an interval of package harness.
func toBoardInterval(i harness.Interval) boards.Interval {
	low, high := i.Ends()
	return boards.Interval{LowNS: low, HighNS: high, Processes: i.ProcessCount, Noisy: i.Noisy}
}

// CaseInterval returns the interval of a case's time; the zero value if it was not measured in several processes.
func CaseInterval(c job.CaseResult) boards.Interval {
	i, _ := harness.ScoreInterval(tasks.RankGeometricMean, c.Time(), []job.CaseResult{c})
	return toBoardInterval(i)
}

// BenchmarkScore returns the geometric mean of the case times of a passed benchmark stage in nanoseconds, and the
// number of cases; 0 for other stages.
func BenchmarkScore(stage job.StageResult) (ns float64, cases int) {
	if stage.Stage != job.StageBenchmark {
		return 0, 0
	}
	ns, err := harness.Score(tasks.RankGeometricMean, stage.Cases)
	if err != nil {
		return 0, 0
	}
	return ns, len(stage.Cases)
}

// scoreDeviation computes the standard deviation and the standard error of the score from those of the cases, which are
// assumed to be independent.
func scoreDeviation(ranking tasks.Ranking, score float64, cases []job.CaseResult) (std, stderr float64) {
	if last := cases[len(cases)-1]; ranking != tasks.RankMean && ranking != tasks.RankGeometricMean {
		return last.StandardDeviation, last.StandardError
	}
	for _, c := range cases {
		weight := 1 / float64(len(cases))
		if ranking == tasks.RankGeometricMean {
			weight *= score / c.Time()
		}
		std, stderr = math.Hypot(std, weight*c.StandardDeviation), math.Hypot(stderr, weight*c.StandardError)
	}
	return std, stderr
}
