package scores

import (
	"math"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/tasks"
)

func TestTheIntervalOfAScoreIsMadeOfItsProcesses(t *testing.T) {
	cases := []job.CaseResult{{Status: job.StatusPass, Median: 100e3,
		ProcessMedians: []float64{99.9e3, 100e3, 100.1e3, 100e3, 100e3},
		ClockTimes:     job.ClockTimes{CountedClock: job.ClockEvent}}}
	stages := []job.StageResult{{Stage: job.StageRanked, Status: job.StatusPass, Cases: cases}}
	got, err := scoreOf(job.ModeRanked, tasks.RankLastCase, job.Result{Stages: stages})
	if err != nil {
		t.Fatal(err)
	}
	// The t-quantile for 5 processes is 2.776: ± 2.776 × 0.0707 % / √5, and the usual difference between runs, ± 1.96 ×
	// 0.134 %.
	if got.LowNS == nil || math.Abs(*got.LowNS-99_723) > 1 || math.Abs(*got.HighNS-100_278) > 1 || got.Processes != 5 ||
		got.Noisy {
		t.Errorf("the interval is %+v", got.Interval)
	}
	// A result that no judge measured has no processes, and so no interval.
	stages[0].Cases[0].ProcessMedians, stages[0].Cases[0].Mean, stages[0].Cases[0].ClockTimes = nil, 100, job.ClockTimes{}
	if got, err = scoreOf(job.ModeRanked, tasks.RankLastCase, job.Result{Stages: stages}); err != nil ||
		got.Interval != (boards.Interval{}) {
		t.Errorf("a score of one process has %+v, %v", got, err)
	}
}

func TestTheSpreadOfAScoreFollowsItsRule(t *testing.T) {
	cases := []job.CaseResult{
		{Status: job.StatusPass, Mean: 100, StandardDeviation: 3, StandardError: 0.3},
		{Status: job.StatusPass, Mean: 400, StandardDeviation: 4, StandardError: 0.4},
	}
	for ranking, want := range map[tasks.Ranking]work.Score{
		tasks.RankLastCase:      {NS: 400, DeviationNS: 4, StandardErrorNS: 0.4},
		tasks.RankMean:          {NS: 250, DeviationNS: 2.5, StandardErrorNS: 0.25},
		tasks.RankGeometricMean: {NS: 200, DeviationNS: math.Hypot(3, 1), StandardErrorNS: math.Hypot(0.3, 0.1)},
	} {
		got, err := scoreOf(job.ModeRanked, ranking,
			job.Result{Stages: []job.StageResult{{Stage: job.StageRanked, Status: job.StatusPass, Cases: cases}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]float64{{got.NS, want.NS}, {got.DeviationNS, want.DeviationNS},
			{got.StandardErrorNS, want.StandardErrorNS}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
				t.Errorf("%s: %+v, want %+v", ranking, got, want)
			}
		}
	}
}
