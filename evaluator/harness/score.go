package harness

import (
	"errors"
	"fmt"
	"math"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// The bounds of a time, in nanoseconds: no clock shows less than one, and none has run for thirty years.
// Sums and spreads of such times stay finite.
const (
	minTime = 1
	maxTime = 1e18
)

// isTime reports whether a clock can have shown this; nothing that is not a number is.
func isTime(ns float64) bool { return ns >= minTime && ns <= maxTime }

// isSpread reports whether this can be how far times lie apart.
func isSpread(ns float64) bool { return ns >= 0 && ns <= maxTime }

// isDifference reports whether this can be a time less a constant.
func isDifference(ns float64) bool { return ns >= -maxTime && ns <= maxTime }

// Score computes one number, in nanoseconds, from a ranked stage's cases by the task's ranking rule. A case that a judge
// timed in a separate process counts by its median, any other by its mean (job.CaseResult.Time). Several fresh processes
// count by the median of their medians. It fails if there is no case, if one has not passed with a time that a clock can
// show, or if its processes do not give its time.
func Score(ranking tasks.Ranking, cases []job.CaseResult) (float64, error) {
	if len(cases) == 0 {
		return 0, errors.New("the ranked stage reported no case, and so there is nothing to score")
	}
	for _, c := range cases {
		if c.Status != job.StatusPass || !isTime(c.Time()) || !isSpread(c.Std) || !isSpread(c.Err) {
			return 0, fmt.Errorf("case %d (%s) has no time that a clock can show (at least %d ns), and so the run has no score", c.Index, c.Spec, minTime)
		}
	}
	switch ranking {
	case tasks.RankLast, tasks.RankMean, tasks.RankGeom, "":
		return rank(ranking, cases), checkProcesses(cases)
	default:
		return 0, fmt.Errorf("unknown ranking rule %q", ranking)
	}
}

// rank applies a ranking rule that is known.
func rank(ranking tasks.Ranking, cases []job.CaseResult) float64 {
	switch ranking {
	case tasks.RankMean:
		return meanOf(cases, func(v float64) float64 { return v })
	case tasks.RankGeom:
		return math.Exp(meanOf(cases, math.Log))
	default:
		return cases[len(cases)-1].Time()
	}
}

func meanOf(cases []job.CaseResult, f func(float64) float64) float64 {
	sum := 0.0
	for _, c := range cases {
		sum += f(c.Time())
	}
	return sum / float64(len(cases))
}
