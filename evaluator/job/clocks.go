package job

import "math"

// Clock names one of the three clocks by which a judge times a call. Package judge describes them.
type Clock string

const (
	ClockEvent    Clock = "event"    // the runner's CUDA events or clock
	ClockWall     Clock = "wall"     // the judge's: from the release of a call to its end, minus the time of an empty call
	ClockSnapshot Clock = "snapshot" // the judge's: from the release of a call to the arrival of its answer, minus that of an empty call
)

// ClockTimes has the times of a case's calls by the three clocks: medians in nanoseconds, 0 if no judge timed the case.
type ClockTimes struct {
	CountedClock Clock   `json:"counts"` // the clock that determines the case's times
	EventTime    float64 `json:"event"`
	WallTime     float64 `json:"wall"`     // may be negative, by at most the error of EmptyCallTime
	SnapshotTime float64 `json:"snapshot"` // may also be negative
	// LateCalls is the number of calls that the judge released before all their work was queued, because it was not
	// queued within the time limit: such calls synchronize with the device.
	LateCalls     int     `json:"late,omitempty"`
	WallTolerance float64 `json:"tolerance"` // maximum error of WallTime
	// time of an empty call, which is subtracted from WallTime and SnapshotTime
	EmptyCallTime float64 `json:"handover"`
}

// JudgeTime returns the larger of the two times by the judge's clocks, which code in the runner cannot choose.
func (c ClockTimes) JudgeTime() float64 { return math.Max(c.WallTime, c.SnapshotTime) }

// TimedByJudge reports whether a judge timed the case in a process separate from the submission's.
func (c CaseResult) TimedByJudge() bool { return c.ClockTimes.CountedClock != "" }

// Time returns the time of the case that counts for a score. It is the median of the calls if a judge timed them: the
// judge chooses the clock by medians, and the machine disturbs about one call in a thousand. Otherwise it is the mean.
func (c CaseResult) Time() float64 {
	if c.TimedByJudge() {
		return c.Median
	}
	return c.Mean
}

// SynchronizesInMostCalls reports whether most calls of the case synchronize with the device. Then the judge's clocks
// count, and the runner's events are meaningless.
func (c CaseResult) SynchronizesInMostCalls() bool { return 2*c.ClockTimes.LateCalls > c.Runs }

// ClocksDiffer reports whether the runner's and the judge's clock differ by more than the tolerance. If the runner's is
// meaningless, it reports whether the answer arrived later than the end of the call by more than the tolerance.
func (c CaseResult) ClocksDiffer() bool {
	if !c.TimedByJudge() {
		return false
	}
	if c.SynchronizesInMostCalls() {
		return c.ClockTimes.CountedClock == ClockSnapshot
	}
	return c.ClockTimes.CountedClock != ClockEvent || math.Abs(c.ClockTimes.WallTime-c.ClockTimes.EventTime) > c.ClockTimes.WallTolerance
}
