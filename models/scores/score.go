// Package scores turns a worker's result, which alone is a claim, into the site's findings: for a run, the score, its
// spread, and its distance from the device's limits; for an evaluation, its end and the additions to its counters.
//
// Read check.go first: Check compares a result with the site's data of the run, and refuses one that contradicts
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

// maxScoreError is the largest allowed relative difference between a worker's score and ours: they are the same sums,
// perhaps in another order.
const maxScoreError = 1e-9

// newScore returns the score of a successful result, compared with the slot that measured it; nil in modes without a
// score. An error describes how the result contradicts itself. drawn is the task with the drawn values of its cases.
func newScore(mode job.Mode, def, drawn tasks.Definition, result job.Result) (*work.Score, error) {
	score, err := scoreOf(mode, def.RankingBy, result)
	compareWithSlot(score, def, drawn, result)
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
	score := &work.Score{NS: ns, StdNS: std, ErrNS: stderr}
	if i, measured := harness.ScoreInterval(ranking, ns, ranked.Cases); measured {
		score.Interval = boardInterval(i)
	}
	return score, nil
}

// boardInterval converts an interval for boards.
func boardInterval(i harness.Interval) boards.Interval {
	low, high := i.Ends()
	return boards.Interval{LowNS: low, HighNS: high, Processes: i.Processes, Noisy: i.Noisy}
}

// CaseInterval returns the interval of one case's time; the zero value if no fresh processes were measured.
func CaseInterval(c job.CaseResult) boards.Interval {
	i, _ := harness.ScoreInterval(tasks.RankGeom, c.Time(), []job.CaseResult{c})
	return boardInterval(i)
}

// BenchmarkScore returns the geometric mean of the cases of a passed benchmark, in nanoseconds, and their number; 0 if
// the stage is no such benchmark.
func BenchmarkScore(stage job.StageResult) (ns float64, cases int) {
	if stage.Stage != job.StageBenchmark {
		return 0, 0
	}
	ns, err := harness.Score(tasks.RankGeom, stage.Cases)
	if err != nil {
		return 0, 0
	}
	return ns, len(stage.Cases)
}

// scoreDeviation propagates the cases' standard deviation and standard error to the score, assuming independent cases.
func scoreDeviation(ranking tasks.Ranking, score float64, cases []job.CaseResult) (std, stderr float64) {
	if last := cases[len(cases)-1]; ranking != tasks.RankMean && ranking != tasks.RankGeom {
		return last.StandardDeviation, last.StandardError
	}
	for _, c := range cases {
		weight := 1 / float64(len(cases))
		if ranking == tasks.RankGeom {
			weight *= score / c.Time()
		}
		std, stderr = math.Hypot(std, weight*c.StandardDeviation), math.Hypot(stderr, weight*c.StandardError)
	}
	return std, stderr
}
