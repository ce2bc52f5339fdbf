package charts

import (
	"testing"

	"warpboard/evaluator/job"
)

func TestATimeWithinTheClocksToleranceIsNone(t *testing.T) {
	clamped := job.CaseResult{Mean: 40_000, Best: 1, ClockTimes: job.ClockTimes{WallTolerance: 20_000}}
	if got := ShortestRepeat(clamped); got.Number != "< 20.00" || got.UnitName != "µs" {
		t.Errorf("%+v", got)
	}
	clamped.Best = 30_000
	if got := ShortestRepeat(clamped); got.Number != "30.00" {
		t.Errorf("%+v", got)
	}
	clamped.Best = 1
	if got := repeatTimeText(1, clamped); got != "< 20.00\u00a0µs" {
		t.Errorf("%q", got)
	}
	for _, s := range caseStatistics(clamped) {
		if s.name == "Best" && s.value != repeatTimeText(1, clamped) {
			t.Errorf("%+v", s)
		}
	}
}
