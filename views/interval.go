package views

import (
	"fmt"

	"warpboard/views/format"
)

// Interval is where a score lies with a probability of 95 %, told from fresh processes of the submission.
type Interval struct {
	Low, High float64 // nanoseconds; 0 where one process alone was measured
	Processes int     // 0: the score has none
	Noisy     bool
	Runs      int // of equal source that the score is made of; 0: one
}

// From says of how many runs of equal source the score is made.
func (i Interval) From(runs int) Interval {
	i.Runs = runs
	return i
}

// spread shows how far a score may lie from the ends of its interval; where it has none, the standard error of its
// repeats.
func (i Interval) spread(score, err float64) string {
	switch {
	case i.Processes == 0:
		return format.Spread(score, err)
	case i.High == 0:
		return format.Nothing
	}
	return format.Spread(score, (i.High-i.Low)/2)
}

// title says what spread is.
func (i Interval) title() string {
	switch {
	case i.Processes == 0:
		return "Standard error of the mean of its repeats"
	case i.High == 0:
		return "Measured in one process: it has no interval"
	}
	of := ""
	if i.Runs > 0 {
		of = " of " + format.Plural(i.Runs, "run", "runs")
	}
	return fmt.Sprintf("95 %% interval from %d fresh processes%s: %s to %s", i.Processes, of, format.Nanoseconds(i.Low), format.Nanoseconds(i.High))
}

const noisyHint = "Its fresh processes differ too much for an interval of ± 0.5 %: another run may give another score. It does not count against any limit"
