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

// Interval contains a score with a probability of 95 %, computed from fresh processes of the submission.
type Interval struct {
	Low, High float64 // nanoseconds; both 0 if only one process was measured
	Processes int
	Noisy     bool // fewer processes than there should be, or an interval wider than it should be
}

// Ends are the ends of the interval, in nanoseconds; nil if only one process was measured.
func (i Interval) Ends() (low, high *float64) {
	if i.High > 0 {
		return &i.Low, &i.High
	}
	return nil, nil
}

const (
	LeastProcesses = 5  // that measure a score, where the time suffices
	MostProcesses  = 25 // however far they lie apart
	confidence     = 0.95
	// halfWidth is how far a score may lie from the ends of its interval, relatively.
	halfWidth = 0.005
	// byOrder is from how many processes on the interval is one of order statistics, which assume nothing.
	byOrder = 7
	// deviations is the half-width of a normal interval of that confidence, in standard deviations.
	deviations = 1.96
)

// BetweenRuns is how much the scores of two runs of one program differ beyond what the spread of their processes explains: a
// standard deviation, relative to the score in nanoseconds. The processes of one run share a judge, its memory on the device
// and a few seconds. Fitted to 100 runs on an H200 (docs/measuring.md): runs of 8 µs differ by 50 ns, of 39 µs by 100 ns, of
// 122 µs by nothing measurable, of 1.2 ms by 0.14 %. Other devices may differ by more. Below 240 ns, which no GPU reaches,
// it is constant: otherwise the interval would cover everything.
func BetweenRuns(ns float64) float64 {
	return math.Hypot(0.0012, min(60/ns, 0.25))
}

// Widen makes an interval around a value wider by half, the relative half-width of an independent error that the interval
// does not include. All three are positive.
func Widen(value, low, high, half float64) (float64, float64) {
	return value * math.Exp(-math.Hypot(math.Log(value/low), half)), value * math.Exp(math.Hypot(math.Log(high/value), half))
}

// ScoreInterval returns the interval of a score that Score made of the same cases; the second result is false where
// no fresh processes were measured, as of a bundle's own program.
//
// Of each process the ranking rule makes a score. Few scores (fewer than 7) are taken as log-normal: a t-interval on
// their logarithms. Of more, order statistics give the interval of their median. Repeats within one process say nothing
// of the next one, and do not count here. The rule that stops when an interval is narrow makes intervals slightly too
// narrow. What runs differ by (BetweenRuns) makes it wider; whether it is noisy says nothing of that, which more processes
// would not change.
func ScoreInterval(ranking tasks.Ranking, score float64, cases []job.CaseResult) (Interval, bool) {
	return intervalOfRuns(ranking, score, cases, 1)
}

// intervalOfRuns is ScoreInterval for processes of so many equal runs: together they know more of what runs differ by.
func intervalOfRuns(ranking tasks.Ranking, score float64, cases []job.CaseResult, runs float64) (Interval, bool) {
	i, measured := ProcessInterval(ranking, score, cases)
	if i.High > 0 {
		low, high := Widen(score, i.Low, i.High, deviations*BetweenRuns(score)/math.Sqrt(runs))
		// What a clock can show; the database checks the same bounds.
		i.Low, i.High = max(low, min(i.Low, minTime)), min(high, max(i.High, maxTime))
	}
	return i, measured
}

// ProcessInterval is ScoreInterval as if runs differed by nothing but their processes.
func ProcessInterval(ranking tasks.Ranking, score float64, cases []job.CaseResult) (Interval, bool) {
	if len(cases) == 0 || len(cases[0].Processes) == 0 {
		return Interval{}, false
	}
	scores := processScores(ranking, cases)
	i := Interval{Processes: len(scores)}
	if len(scores) == 1 {
		i.Noisy = true
		return i, true
	}
	summary := summarize(scores)
	// The score is made of medians by case, and may lie outside by a hair.
	i.Low, i.High = min(summary.Lo, score), max(summary.Hi, score)
	i.Noisy = len(scores) < LeastProcesses || i.High-i.Low > 2*halfWidth*score
	return i, true
}

func summarize(scores []float64) benchmath.Summary {
	if len(scores) >= byOrder {
		return benchmath.AssumeNothing.Summary(benchmath.NewSample(scores, &benchmath.DefaultThresholds), confidence)
	}
	logs := make([]float64, len(scores))
	for i, s := range scores {
		logs[i] = math.Log(s)
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(logs, &benchmath.DefaultThresholds), confidence)
	s.Lo, s.Hi = math.Exp(max(s.Lo, math.Log(minTime))), math.Exp(min(s.Hi, math.Log(maxTime)))
	return s
}

// processScores is what each process alone would have scored.
func processScores(ranking tasks.Ranking, cases []job.CaseResult) []float64 {
	scores := make([]float64, len(cases[0].Processes))
	for p := range scores {
		alone := slices.Clone(cases)
		for i := range alone {
			alone[i].Median = cases[i].Processes[p]
		}
		scores[p] = rank(ranking, alone)
	}
	return scores
}

// checkProcesses says what in the cases' processes cannot be: each case has as many, with times, and Median is theirs.
func checkProcesses(cases []job.CaseResult) error {
	for _, c := range cases {
		if len(c.Processes) != len(cases[0].Processes) || len(c.Processes) > MostProcesses {
			return errors.New("its cases were measured in different numbers of processes")
		}
		if len(c.Processes) == 0 {
			continue
		}
		if !c.Judged() || slices.ContainsFunc(c.Processes, func(ns float64) bool { return !isTime(ns) }) ||
			math.Abs(quantile(c.Processes, 0.5)-c.Median) > rounding*c.Median {
			return fmt.Errorf("the processes of case %d do not give its time", c.Index)
		}
	}
	return nil
}
