package harness

import (
	"errors"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// CombineRuns returns the score of several runs of the same program, given as the medians of their processes by case.
// It equals the score of one run with all of these processes. The interval includes the variation between runs.
func CombineRuns(ranking tasks.Ranking, runs [][][]float64) (score float64, interval Interval, err error) {
	if len(runs) == 0 || len(runs[0]) == 0 {
		return 0, interval, errors.New("there is no case to score")
	}
	cases := make([]job.CaseResult, len(runs[0]))
	for _, run := range runs {
		if len(run) != len(cases) {
			return 0, interval, errors.New("the runs are not of the same cases")
		}
		for i, processes := range run {
			cases[i].ProcessMedians = append(cases[i].ProcessMedians, processes...)
		}
	}
	for i := range cases {
		c := &cases[i]
		if len(c.ProcessMedians) == 0 || len(c.ProcessMedians) != len(cases[0].ProcessMedians) {
			return 0, interval, errors.New("the cases were measured in different numbers of processes")
		}
		// CaseResult.Time returns Median only if CountedClock is set; which clock it names does not matter.
		c.Index, c.Median, c.ClockTimes.CountedClock = i, quantile(c.ProcessMedians, 0.5), job.ClockEvent
	}
	score = rankedTime(ranking, cases)
	interval, _ = intervalOfRuns(ranking, score, cases, effectiveRunCount(runs))
	return score, interval, nil
}

// effectiveRunCount returns the effective number of runs: the number of equally large runs that would show the
// variation between runs equally well. Runs are weighted by their processes, so that a run of one process, such as a
// cancelled one, adds little.
func effectiveRunCount(runs [][][]float64) float64 {
	all, squares := 0.0, 0.0
	for _, run := range runs {
		n := float64(len(run[0]))
		all, squares = all+n, squares+n*n
	}
	return all * all / squares
}
