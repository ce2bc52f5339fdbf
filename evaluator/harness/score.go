package harness

import (
	"errors"
	"fmt"
	"math"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// Range of valid times in nanoseconds, up to thirty years. Sums and deviations of such times are finite.
const (
	minTime = 1
	maxTime = 1e18
)

// isValidTime reports whether ns is a valid time. NaN is not.
func isValidTime(ns float64) bool { return ns >= minTime && ns <= maxTime }

// isValidDeviation reports whether ns is a valid deviation of times.
func isValidDeviation(ns float64) bool { return ns >= 0 && ns <= maxTime }

// isValidDifference reports whether ns is a valid difference between a time and a constant.
func isValidDifference(ns float64) bool { return ns >= -maxTime && ns <= maxTime }

// Score computes the score of a ranked stage in nanoseconds from its cases, by the task's ranking rule. A case that a
// judge timed in a separate process counts by its median, any other by its mean (job.CaseResult.Time). Several
// processes count by the median of their medians. It returns an error if there is no case, if one has not passed with a
// valid time, or if its processes do not match its time.
func Score(ranking tasks.Ranking, cases []job.CaseResult) (float64, error) {
	if len(cases) == 0 {
		return 0, errors.New("the ranked stage reported no case, and so there is nothing to score")
	}
	for _, c := range cases {
		if c.Status != job.StatusPass || !isValidTime(c.Time()) || !isValidDeviation(c.StandardDeviation) || !isValidDeviation(c.StandardError) {
			return 0, fmt.Errorf("case %d (%s) has no time that a clock can show (at least %d ns), and so the run has no score", c.Index, c.SpecLine, minTime)
		}
	}
	switch ranking {
	case tasks.RankLastCase, tasks.RankMean, tasks.RankGeometricMean, "":
		return rankedTime(ranking, cases), checkProcesses(cases)
	default:
		return 0, fmt.Errorf("unknown ranking rule %q", ranking)
	}
}

// rankedTime returns the score of cases under a ranking rule, in nanoseconds: their mean, their geometric mean, or the
// time of the last one.
func rankedTime(ranking tasks.Ranking, cases []job.CaseResult) float64 {
	switch ranking {
	case tasks.RankMean:
		return meanOverCases(cases, func(v float64) float64 { return v })
	case tasks.RankGeometricMean:
		return math.Exp(meanOverCases(cases, math.Log))
	default:
		return cases[len(cases)-1].Time()
	}
}

func meanOverCases(cases []job.CaseResult, f func(float64) float64) float64 {
	sum := 0.0
	for _, c := range cases {
		sum += f(c.Time())
	}
	return sum / float64(len(cases))
}
