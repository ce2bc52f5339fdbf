package job

import "math"

// Clock names one of the three clocks by which a judge times a call; package judge says what each of them shows.
type Clock string

const (
	ClockEvent    Clock = "event"    // the runner's own
	ClockWall     Clock = "wall"     // the judge's: from the release to done, minus the time of an empty call
	ClockSnapshot Clock = "snapshot" // the judge's: from the release to the answer in its hands, less the same
)

// Clocks is what the three clocks say of a case's calls: medians in nanoseconds, zero where no judge timed the case.
type Clocks struct {
	Counts    Clock   `json:"counts"` // the one that gives the case's times
	Event     float64 `json:"event"`
	Wall      float64 `json:"wall"`           // may be below 0 by at most the error of the constant
	Snapshot  float64 `json:"snapshot"`       // likewise
	Late      int     `json:"late,omitempty"` // calls released after the limit, because they wait for the device on the host
	Tolerance float64 `json:"tolerance"`      // by how much wall may exceed the truth
	Handover  float64 `json:"handover"`       // time of an empty call, which is subtracted from wall
}

// Judged is the larger of the two numbers that code in the runner cannot choose.
func (c Clocks) Judged() float64 { return math.Max(c.Wall, c.Snapshot) }

// Judged reports whether a judge timed the case, in a process apart from the submission's.
func (c CaseResult) Judged() bool { return c.Clocks.Counts != "" }

// Time is what the case counts in a score: the median of its calls where a judge timed them, for the judge
// chooses the clock by medians and one call in a thousand has the machine against it; else the mean.
func (c CaseResult) Time() float64 {
	if c.Judged() {
		return c.Median
	}
	return c.Mean
}

// MostlyLate reports whether the case's calls wait for the device on the host. Such a case counts by the judge's
// clocks, and what its events say means nothing.
func (c CaseResult) MostlyLate() bool { return 2*c.Clocks.Late > c.Runs }

// ClocksDiffer reports whether the runner's clock and the judge's are further apart than the tolerance; where the
// runner's means nothing, whether the answer came later than done by more than that.
func (c CaseResult) ClocksDiffer() bool {
	if !c.Judged() {
		return false
	}
	if c.MostlyLate() {
		return c.Clocks.Counts == ClockSnapshot
	}
	return c.Clocks.Counts != ClockEvent || math.Abs(c.Clocks.Wall-c.Clocks.Event) > c.Clocks.Tolerance
}
