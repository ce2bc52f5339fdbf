package views

import (
	"fmt"
	"math"
	"slices"

	"github.com/a-h/templ"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/views/format"
)

// maxShortScoreNS is the time, in nanoseconds, below which a score has a mark. The mark links to an explanation of the
// forgeries that a measurement of such a short time cannot exclude.
const maxShortScoreNS = 30e3

const (
	trustShortScoresURL = templ.SafeURL("/trust#short")
	trustClocksURL      = templ.SafeURL("/trust#clocks")
	trustBundleURL      = templ.SafeURL("/trust#bundle")
)

// callReleaseDelay is the maximum time for which a call waits until all its work is queued; then it starts anyway.
const callReleaseDelay = "10\u00a0ms"

// anyTimedByJudge reports whether a judge timed some of the cases.
func anyTimedByJudge(cases []job.CaseResult) bool {
	return slices.ContainsFunc(cases, job.CaseResult.TimedByJudge)
}

// lacksJudgeTimes reports whether an old version of the harness of Warpboard measured the run with a clock in the
// process of the kernel.
func (r RunCard) lacksJudgeTimes() bool {
	timed := false
	for _, stage := range r.Stages {
		if stage.HasResult && stage.HasTimes() {
			timed = true
			if anyTimedByJudge(stage.Result.Cases) {
				return false
			}
		}
	}
	return timed && !r.MeasuredByTaskProgram
}

// clockNames are the names of clocks in notes.
var clockNames = map[job.Clock]string{job.ClockEvent: "runner's", job.ClockWall: "judge's", job.ClockSnapshot: "judge's, answer"}

// clockExplanations are the tooltips that explain each clock.
var clockExplanations = map[job.Clock]string{
	job.ClockEvent:    "Taken beside the kernel, and confirmed by the judge's clock",
	job.ClockWall:     "Taken by the judge, from the release of the call until it was done",
	job.ClockSnapshot: "Taken by the judge, from the release of the call until the answer was in its hands",
}

// clockNotes returns sentences about the clocks of a case; none if they agree and no call was late.
func clockNotes(c job.CaseResult) []string {
	if !c.TimedByJudge() {
		return nil
	}
	var notes []string
	switch k := c.ClockTimes; {
	case c.SynchronizesInMostCalls():
		notes = append(notes, fmt.Sprintf("Released after %s: it waits for the device on the host (%d of %s). Everything after the release counts: %s by the judge's clock, %s by the runner's.",
			callReleaseDelay, k.LateCalls, format.Plural(c.Runs, "call", "calls"), format.Nanoseconds(k.WallTime), format.Nanoseconds(k.EventTime)))
	case k.LateCalls > 0:
		notes = append(notes, fmt.Sprintf("%d of %s released after %s: they wait for the device on the host.", k.LateCalls, format.Plural(c.Runs, "call was", "calls were"), callReleaseDelay))
	}
	if c.ClocksDiffer() {
		notes = append(notes, clockDifferenceNote(c.ClockTimes))
	}
	return notes
}

// clockFacts returns the times by each clock, and the difference between the runner's and the judge's. The judge's time
// may end later than the kernel, when the output arrives.
func clockFacts(d models.ClockDifference) []string {
	facts := []string{"runner's clock " + format.Nanoseconds(d.EventNS).String(), "judge's clock " + format.Nanoseconds(d.WallNS).String()}
	judged := d.WallNS
	if d.SnapshotNS > d.WallNS {
		judged = d.SnapshotNS
		facts = append(facts, "answer after "+format.Nanoseconds(d.SnapshotNS).String())
	}
	return append(facts, "difference "+format.Nanoseconds(math.Abs(judged-d.EventNS)).String(), "tolerance "+format.Nanoseconds(d.ToleranceNS).String())
}

// clockDifferenceNote returns the times by both clocks, and which of them counts.
func clockDifferenceNote(k job.ClockTimes) string {
	switch k.CountedClock {
	case job.ClockSnapshot:
		return fmt.Sprintf("Runner: %s. Judge: answer after %s (counts, minus the tolerance).",
			format.Nanoseconds(k.EventTime), format.Nanoseconds(k.SnapshotTime))
	case job.ClockWall:
		return fmt.Sprintf("Judge: %s (counts, minus %s tolerance). Runner: %s.", format.Nanoseconds(k.WallTime), format.Nanoseconds(k.WallTolerance), format.Nanoseconds(k.EventTime))
	}
	if k.CountedClock == job.ClockEvent && k.WallTime > k.EventTime {
		return fmt.Sprintf("The runner's clock shows %s and the judge's %s. In other processes of this run both clocks agreed on the runner's time, so something disturbed the judge's clock, and the runner's time counts.",
			format.Nanoseconds(k.EventTime), format.Nanoseconds(k.WallTime))
	}
	return fmt.Sprintf("The runner's clock shows %s, the judge's clock %s: further apart than the judge's tolerance of %s. The larger one counts.",
		format.Nanoseconds(k.EventTime), format.Nanoseconds(k.WallTime), format.Nanoseconds(k.WallTolerance))
}
