package statement

import (
	"fmt"
	"math"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
)

const (
	judgedNote = "The judge draws a seed for every call from the system, tells it to nobody and keeps none: a repetition has other inputs of the same kind."
	ownNote    = "The task's own program measured with the public seed, and did everything again with the secret one, for a verdict alone."
)

// SeedsOf says which seeds are known of a run that is over. Secret is that of its attempt, which is never used again.
func SeedsOf(ownHarness bool, public *int64, secret uint64) Seeds {
	seeds := Seeds{Note: judgedNote}
	if public != nil {
		seed := uint64(*public)
		seeds.Public = &seed
	}
	if ownHarness {
		seeds.Secret, seeds.Note = &secret, ownNote
	}
	return seeds
}

// SamplesOf takes the samples from a ranked stage.
func SamplesOf(cases []job.CaseResult) []Sample {
	samples := make([]Sample, len(cases))
	for i, c := range cases {
		samples[i] = Sample{Case: c.Spec, Clock: c.Clocks.Counts, Processes: c.Processes, Time: c.Time(), Calls: c.Runs, Std: c.Std}
	}
	return samples
}

// cases is SamplesOf backwards.
func (r Result) cases() []job.CaseResult {
	cases := make([]job.CaseResult, len(r.Samples))
	for i, s := range r.Samples {
		cases[i] = job.CaseResult{Index: i, Spec: s.Case, Status: job.StatusPass, Runs: s.Calls, Std: s.Std,
			Mean: s.Time, Median: s.Time, Processes: s.Processes, Clocks: job.Clocks{Counts: s.Clock}}
	}
	return cases
}

// rounding is how far sums of the same numbers may differ, relatively.
const rounding = 1e-9

// Check makes the score from the samples again, and says where the statement contradicts them.
func (r Result) Check() error {
	ns, err := harness.Score(r.Task.Ranking, r.cases())
	if err != nil {
		return err
	}
	if !near(ns, r.Score.NS) {
		return fmt.Errorf("its samples give a score of %v ns, but it states %v ns", ns, r.Score.NS)
	}
	interval, measured := harness.ScoreInterval(r.Task.Ranking, ns, r.cases())
	if !measured || interval.High == 0 {
		if r.Score.Low != nil || r.Score.High != nil {
			return fmt.Errorf("it states an interval, but its samples give none")
		}
		return nil
	}
	if r.Score.lies(interval) {
		return nil
	}
	// Statements from before runs' own differences counted give the interval of their processes.
	if older, _ := harness.ProcessInterval(r.Task.Ranking, ns, r.cases()); !r.Score.lies(older) {
		return fmt.Errorf("its samples give an interval of %v to %v ns, but it states another", interval.Low, interval.High)
	}
	return nil
}

func (s Score) lies(in harness.Interval) bool {
	return s.Low != nil && s.High != nil && near(in.Low, *s.Low) && near(in.High, *s.High)
}

func near(a, b float64) bool { return math.Abs(a-b) <= rounding*math.Abs(b) }

// difference is how far two equal scores may lie apart, relatively: as on a board.
const difference = 0.005

// Agrees reports whether a score measured elsewhere agrees: the intervals touch, or the scores are at most 0.5 % apart.
// Without an interval a score counts as a point.
func (s Score) Agrees(other Score) bool {
	if math.Abs(s.NS-other.NS) <= difference*math.Min(s.NS, other.NS) {
		return true
	}
	low, high := s.ends()
	otherLow, otherHigh := other.ends()
	return low <= otherHigh && otherLow <= high
}

func (s Score) ends() (low, high float64) {
	if s.Low == nil || s.High == nil {
		return s.NS, s.NS
	}
	return *s.Low, *s.High
}
