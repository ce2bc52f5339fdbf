package versus

import (
	"slices"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// Case is one case of both runs; nil for a run that did not have it.
type Case struct {
	Spec string
	A, B *job.CaseResult
	// Ratio has an interval that holds simultaneously with those of the other cases, so it is wider if there are many
	// cases.
	Ratio Ratio
}

// Comparison is the comparison of two runs.
type Comparison struct {
	Cases []Case
	// Score is the ratio of the scores by the task's ranking rule, over the cases that both runs have.
	Score Ratio
	// Mean is the geometric mean of the cases' ratios.
	Mean        Ratio
	SharedCases int // number of cases that both sides ran
}

// Compare compares the timed cases of two runs. ranking is the rule for their scores.
func Compare(ranking tasks.Ranking, a, b []job.CaseResult) Comparison {
	f := Comparison{Cases: matchCases(a, b)}
	as, bs := casesOfBoth(f.Cases)
	if f.SharedCases = len(as); f.SharedCases == 0 {
		return f
	}
	alpha := (1 - confidence) / float64(f.SharedCases)
	for i, c := range f.Cases {
		if hasTimes(c.A) && hasTimes(c.B) {
			f.Cases[i].Ratio = ratioWithInterval(c.A.Time(), c.B.Time(), processMedians(c.A), processMedians(c.B), alpha)
		}
	}
	f.Score, f.Mean = scoreRatio(ranking, as, bs), scoreRatio(tasks.RankGeom, as, bs)
	return f
}

// Scores returns the two scores whose ratio is Comparison.Score: each of one run alone, over the cases that both runs
// have, or over its own cases if they have none in common; 0 if there is none. A board may show another score, of
// several runs together or of a confirmation.
func Scores(ranking tasks.Ranking, a, b []job.CaseResult) (float64, float64) {
	as, bs := casesOfBoth(matchCases(a, b))
	if len(as) == 0 {
		as, bs = timedCases(a), timedCases(b)
	}
	return scoreOf(ranking, as), scoreOf(ranking, bs)
}

func timedCases(cases []job.CaseResult) []job.CaseResult {
	return slices.DeleteFunc(slices.Clone(cases), func(c job.CaseResult) bool { return !hasTimes(&c) })
}

// casesOfBoth returns the timed cases that both runs have.
func casesOfBoth(cases []Case) (as, bs []job.CaseResult) {
	for _, c := range cases {
		if hasTimes(c.A) && hasTimes(c.B) {
			as, bs = append(as, *c.A), append(bs, *c.B)
		}
	}
	return as, bs
}

// matchCases pairs equal cases, in the order of a, followed by those that only b has.
func matchCases(a, b []job.CaseResult) []Case {
	var cases []Case
	at := map[string]int{}
	for i := range a {
		at[a[i].Spec] = len(cases)
		cases = append(cases, Case{Spec: a[i].Spec, A: &a[i]})
	}
	for i := range b {
		if k, both := at[b[i].Spec]; both {
			cases[k].B = &b[i]
			continue
		}
		cases = append(cases, Case{Spec: b[i].Spec, B: &b[i]})
	}
	return cases
}

func hasTimes(c *job.CaseResult) bool {
	return c != nil && c.Status == job.StatusPass && c.Time() >= minTime && c.Time() <= maxTime
}

// minTime and maxTime are the range of valid times in nanoseconds. Others are omitted, because statistics of them would
// not terminate.
const minTime, maxTime = 1, 1e18

// processMedians returns the median times of the case's processes, which only a judge measures.
func processMedians(c *job.CaseResult) []float64 {
	if !c.TimedByJudge() || slices.ContainsFunc(c.Processes, func(ns float64) bool { return !(ns >= minTime && ns <= maxTime) }) {
		return nil
	}
	return c.Processes
}

// scoreRatio returns the ratio of two scores.
func scoreRatio(ranking tasks.Ranking, a, b []job.CaseResult) Ratio {
	return ratioWithInterval(scoreOf(ranking, a), scoreOf(ranking, b), processScores(ranking, a), processScores(ranking, b), 1-confidence)
}

// scoreOf returns the score by the ranking rule, or 0 if the cases have none.
func scoreOf(ranking tasks.Ranking, cases []job.CaseResult) float64 {
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
			c.Median, c.Processes = c.Processes[p], nil
			alone[i] = c
		}
		scores = append(scores, scoreOf(ranking, alone))
	}
	return scores
}

// ProcessInterval returns the interval of the time of a case, by its processes. ok is false without them.
func ProcessInterval(c *job.CaseResult) (low, high float64, ok bool) {
	if !hasTimes(c) || len(processMedians(c)) == 0 {
		return 0, 0, false
	}
	i, measured := harness.ScoreInterval(tasks.RankLast, c.Time(), []job.CaseResult{*c})
	return i.Low, i.High, measured && i.High > 0
}
