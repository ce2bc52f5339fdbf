package harness

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// Interval is the 95 % confidence interval of a score, computed from several processes of the submission.
type Interval struct {
	Low, High    float64 // nanoseconds; both 0 if only one process was measured
	ProcessCount int
	Noisy        bool // too few processes, or too wide an interval
}

// Ends returns the ends of the interval in nanoseconds; both are nil if only one process was measured.
func (i Interval) Ends() (low, high *float64) {
	if i.High > 0 {
		return &i.Low, &i.High
	}
	return nil, nil
}

const (
	MinProcesses    = 5  // least processes that measure a score, if the time suffices
	MaxProcesses    = 25 // most processes that measure a score, even if they differ much
	confidenceLevel = 0.95
	// noisyHalfWidth is the relative half-width above which an interval is noisy.
	noisyHalfWidth = 0.005
	// minForOrderStatistics is the number of processes from which the interval uses order statistics, which assume no
	// distribution.
	minForOrderStatistics = 7
	// normalHalfWidth is the half-width of a normal 95 % interval, in standard deviations.
	normalHalfWidth = 1.96
)

// RunToRunDeviation returns the standard deviation of scores of the same program between runs, relative to the score ns
// in nanoseconds. It comes on top of the variation between the processes of one run, which share a judge, its memory on
// the device, and a few seconds. It was fitted to 100 runs on an H200 (docs/figures.md): runs of 8 µs differ by 50 ns,
// of 39 µs by 100 ns, of 122 µs by nothing measurable, of 1.2 ms by 0.14 %. Other devices may differ by more. Below 240
// ns, which no GPU reaches, it is constant, because the interval would otherwise cover everything.
func RunToRunDeviation(ns float64) float64 {
	return math.Hypot(0.0012, min(60/ns, 0.25))
}

// WidenInterval widens the interval [low, high] around value by a further independent error, whose interval has the
// relative half-width half. All values must be positive.
func WidenInterval(value, low, high, half float64) (float64, float64) {
	return value * math.Exp(-math.Hypot(math.Log(value/low), half)), value * math.Exp(math.Hypot(math.Log(high/value), half))
}

// ScoreInterval returns the interval of the score that Score computes from the same cases. It returns false if the
// cases were not measured in several processes, as for a bundle's own program.
//
// The ranking rule gives a score for each process. With fewer than 7 processes, these scores are treated as log-normal,
// and the interval is a t-interval of their logarithms. With more, order statistics give the interval of the median.
// Repeats within one process do not count, because they show nothing about other processes. Stopping when an interval
// is narrow makes intervals slightly too narrow. The variation between runs (RunToRunDeviation) widens the interval but
// does not make it noisy, because more processes would not reduce it.
func ScoreInterval(ranking tasks.Ranking, score float64, cases []job.CaseResult) (Interval, bool) {
	return intervalOfRuns(ranking, score, cases, 1)
}

// intervalOfRuns returns the interval that ScoreInterval returns, but for the processes of several equal runs, over
// which the variation between runs is averaged.
func intervalOfRuns(ranking tasks.Ranking, score float64, cases []job.CaseResult, runs float64) (Interval, bool) {
	i, measured := IntervalWithinRun(ranking, score, cases)
	if i.High > 0 {
		low, high := WidenInterval(score, i.Low, i.High, normalHalfWidth*RunToRunDeviation(score)/math.Sqrt(runs))
		// Widening must not leave the range of valid times, which the database also checks.
		i.Low, i.High = max(low, min(i.Low, minTime)), min(high, max(i.High, maxTime))
	}
	return i, measured
}

// IntervalWithinRun returns the interval that ScoreInterval returns, but without the variation between runs.
func IntervalWithinRun(ranking tasks.Ranking, score float64, cases []job.CaseResult) (Interval, bool) {
	if len(cases) == 0 || len(cases[0].ProcessMedians) == 0 {
		return Interval{}, false
	}
	scores := processScores(ranking, cases)
	i := Interval{ProcessCount: len(scores)}
	if len(scores) == 1 {
		i.Noisy = true
		return i, true
	}
	low, high := intervalOfScores(scores)
	// The score is computed from each case's median over processes, so it may be slightly outside the interval.
	i.Low, i.High = min(low, score), max(high, score)
	i.Noisy = len(scores) < MinProcesses || i.High-i.Low > 2*noisyHalfWidth*score
	return i, true
}

// intervalOfScores returns the interval of the scores of at least two processes.
func intervalOfScores(scores []float64) (low, high float64) {
	if len(scores) >= minForOrderStatistics {
		s := benchmath.AssumeNothing.Summary(benchmath.NewSample(scores, &benchmath.DefaultThresholds), confidenceLevel)
		return s.Lo, s.Hi
	}
	logs := make([]float64, len(scores))
	for i, s := range scores {
		logs[i] = math.Log(s)
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(logs, &benchmath.DefaultThresholds), confidenceLevel)
	return math.Exp(max(s.Lo, math.Log(minTime))), math.Exp(min(s.Hi, math.Log(maxTime)))
}

// processScores returns the score of each single process.
func processScores(ranking tasks.Ranking, cases []job.CaseResult) []float64 {
	scores := make([]float64, len(cases[0].ProcessMedians))
	for p := range scores {
		alone := slices.Clone(cases)
		for i := range alone {
			alone[i].Median = cases[i].ProcessMedians[p]
		}
		scores[p] = rankedTime(ranking, alone)
	}
	return scores
}

// checkProcesses returns an error unless all cases have the same number of processes, with valid times whose median is
// the Median of the case.
func checkProcesses(cases []job.CaseResult) error {
	for _, c := range cases {
		if len(c.ProcessMedians) != len(cases[0].ProcessMedians) || len(c.ProcessMedians) > MaxProcesses {
			return errors.New("its cases were measured in different numbers of processes")
		}
		if len(c.ProcessMedians) == 0 {
			continue
		}
		if !c.TimedByJudge() || slices.ContainsFunc(c.ProcessMedians, func(ns float64) bool { return !isValidTime(ns) }) ||
			math.Abs(quantile(c.ProcessMedians, 0.5)-c.Median) > roundingError*c.Median {
			return fmt.Errorf("the processes of case %d do not give its time", c.Index)
		}
	}
	return nil
}
