package runs

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/views/charts"
)

// TestAFailedStageCountsAllCasesOfItsTask checks that a crash in the first of five cases is shown as "0 of 5", not "0
// of 1".
func TestAFailedStageCountsAllCasesOfItsTask(t *testing.T) {
	def := tasks.Definition{Lang: tasks.LangPython, Tests: make([]tasks.Case, 5)}
	for want, ended := range map[string]job.StageResult{
		"0 of 5 cases passed": {Stage: job.StageTest, Status: job.StatusTimeout,
			Cases: []job.CaseResult{{Status: job.StatusTimeout}}},
		"1 case passed": {Stage: job.StageTest, Status: job.StatusPass,
			Cases: []job.CaseResult{{Status: job.StatusPass}}},
	} {
		if got := mergeStages(def, job.ModeTest, []job.StageResult{ended}, nil, true)[0].Summary(); got != want {
			t.Errorf("the stage says %q, want %q", got, want)
		}
	}
}

// TestATimelineNamesEndingsAsTheCardDoes checks that the timeline shows a failed test as "wrong answer", not as "fail".
func TestATimelineNamesEndingsAsTheCardDoes(t *testing.T) {
	at := time.Now()
	run := work.Run{Work: work.Work{QueuedAt: at, StartedAt: &at}}
	left := StagesAndProfile{Stages: []job.StageResult{{Stage: job.StageTest, Status: job.StatusFail, StartedAt: at, EndedAt: at}}}
	var page strings.Builder
	if err := charts.Timeline(TimelineOf(run, left)).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "wrong answer") || strings.Contains(page.String(), "fail") {
		t.Error(page.String())
	}
}

// TestARankedCaseHasTheIntervalOfItsProcesses checks that a ranked case shows the 95 % interval across processes. The
// standard error of repeats within one process does not predict the time in another process.
func TestARankedCaseHasTheIntervalOfItsProcesses(t *testing.T) {
	ranked := job.StageResult{Stage: job.StageRanked, Status: job.StatusPass, Cases: []job.CaseResult{{
		Status: job.StatusPass, Runs: 50, Mean: 100e3, StandardError: 1e3, Median: 100e3,
		ProcessMedians: []float64{98e3, 99e3, 100e3, 101e3, 102e3},
		ClockTimes:     job.ClockTimes{CountedClock: job.ClockEvent, EventTime: 100e3, WallTime: 100e3, SnapshotTime: 100e3},
	}}}
	bench := ranked
	bench.Stage, bench.Cases = job.StageBenchmark, []job.CaseResult{ranked.Cases[0]}
	bench.Cases[0].ProcessMedians = nil
	for name, test := range map[string]struct {
		stage job.StageResult
		want  []string
	}{
		"ranked":    {ranked, []string{">95 % interval<", "± 2.0\u00a0%"}},
		"benchmark": {bench, []string{">Standard error<", "± 1.0\u00a0%"}},
	} {
		card := views.RunCard{Stages: mergeStages(tasks.Definition{}, job.ModeRanked, []job.StageResult{test.stage},
			nil, true)}
		var page strings.Builder
		if err := views.Run(card).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: the table lacks %q", name, want)
			}
		}
	}
}
