package versus

import (
	"slices"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// ComparedCase is one case of both runs; nil for a run that did not have it.
type ComparedCase struct {
	Spec             string
	ResultA, ResultB *job.CaseResult
	// Ratio has an interval that holds simultaneously with those of the other cases, so it is wider if there are many
	// cases.
	Ratio Ratio
}

// Comparison is the comparison of two runs.
type Comparison struct {
	Cases []ComparedCase
	// ScoreRatio is the ratio of the scores by the task's ranking rule, over the cases that both runs have.
	ScoreRatio Ratio
	// MeanRatio is the geometric mean of the cases' ratios.
	MeanRatio       Ratio
	SharedCaseCount int // number of cases that both sides ran
}

// CompareRuns compares the timed cases of two runs. ranking is the rule for their scores.
func CompareRuns(ranking tasks.Ranking, a, b []job.CaseResult) Comparison {
	f := Comparison{Cases: matchCases(a, b)}
	as, bs := sharedCases(f.Cases)
	if f.SharedCaseCount = len(as); f.SharedCaseCount == 0 {
		return f
	}
	alpha := (1 - confidenceLevel) / float64(f.SharedCaseCount)
	for i, c := range f.Cases {
		if hasValidTimes(c.ResultA) && hasValidTimes(c.ResultB) {
			f.Cases[i].Ratio = ratioWithInterval(c.ResultA.Time(), c.ResultB.Time(), processMedians(c.ResultA), processMedians(c.ResultB), alpha)
		}
	}
	f.ScoreRatio, f.MeanRatio = scoreRatio(ranking, as, bs), scoreRatio(tasks.RankGeometricMean, as, bs)
	return f
}

// ScoresOfBoth returns the two scores whose ratio is Comparison.ScoreRatio: each of one run alone, over the cases that
// both runs have, or over its own cases if they have none in common; 0 if there is none. A board may show another
// score, of several runs together or of a confirmation.
func ScoresOfBoth(ranking tasks.Ranking, a, b []job.CaseResult) (float64, float64) {
	as, bs := sharedCases(matchCases(a, b))
	if len(as) == 0 {
		as, bs = timedCases(a), timedCases(b)
	}
	return scoreOfCases(ranking, as), scoreOfCases(ranking, bs)
}

func timedCases(cases []job.CaseResult) []job.CaseResult {
	return slices.DeleteFunc(slices.Clone(cases), func(c job.CaseResult) bool { return !hasValidTimes(&c) })
}

// sharedCases returns the timed cases that both runs have.
func sharedCases(cases []ComparedCase) (as, bs []job.CaseResult) {
	for _, c := range cases {
		if hasValidTimes(c.ResultA) && hasValidTimes(c.ResultB) {
			as, bs = append(as, *c.ResultA), append(bs, *c.ResultB)
		}
	}
	return as, bs
}

// matchCases pairs equal cases, in the order of a, followed by those that only b has.
func matchCases(a, b []job.CaseResult) []ComparedCase {
	var cases []ComparedCase
	at := map[string]int{}
	for i := range a {
		at[a[i].SpecLine] = len(cases)
		cases = append(cases, ComparedCase{Spec: a[i].SpecLine, ResultA: &a[i]})
	}
	for i := range b {
		if k, both := at[b[i].SpecLine]; both {
			cases[k].ResultB = &b[i]
			continue
		}
		cases = append(cases, ComparedCase{Spec: b[i].SpecLine, ResultB: &b[i]})
	}
	return cases
}

func hasValidTimes(c *job.CaseResult) bool {
	return c != nil && c.Status == job.StatusPass && c.Time() >= minTime && c.Time() <= maxTime
}

// minTime and maxTime are the range of valid times in nanoseconds. Others are omitted, because statistics of them would
// not terminate.
const minTime, maxTime = 1, 1e18

// processMedians returns the median times of the case's processes, which only a judge measures.
func processMedians(c *job.CaseResult) []float64 {
	if !c.TimedByJudge() || slices.ContainsFunc(c.ProcessMedians, func(ns float64) bool { return !(ns >= minTime && ns <= maxTime) }) {
		return nil
	}
	return c.ProcessMedians
}

// scoreRatio returns the ratio of two scores.
func scoreRatio(ranking tasks.Ranking, a, b []job.CaseResult) Ratio {
	return ratioWithInterval(scoreOfCases(ranking, a), scoreOfCases(ranking, b), processScores(ranking, a), processScores(ranking, b), 1-confidenceLevel)
}

// scoreOfCases returns the score by the ranking rule, or 0 if the cases have none.
func scoreOfCases(ranking tasks.Ranking, cases []job.CaseResult) float64 {
	ns, err := harness.Score(ranking, cases)
	if err != nil {
		return 0
	}
	return ns
}

// processScores returns the score of each single process; nil unless all cases were measured in the same number of
// processes.
func processScores(ranking tasks.Ranking, cases []job.CaseResult) []float64 {
	n := len(processMedians(&cases[0]))
	var scores []float64
	for p := range n {
		alone := make([]job.CaseResult, len(cases))
		for i, c := range cases {
			if len(processMedians(&c)) != n {
				return nil
			}
			c.Median, c.ProcessMedians = c.ProcessMedians[p], nil
			alone[i] = c
		}
		scores = append(scores, scoreOfCases(ranking, alone))
	}
	return scores
}

// CaseTimeInterval returns the interval of the time of a case, by its processes. ok is false without them.
func CaseTimeInterval(c *job.CaseResult) (low, high float64, ok bool) {
	if !hasValidTimes(c) || len(processMedians(c)) == 0 {
		return 0, 0, false
	}
	i, measured := harness.ScoreInterval(tasks.RankLastCase, c.Time(), []job.CaseResult{*c})
	return i.Low, i.High, measured && i.High > 0
}
