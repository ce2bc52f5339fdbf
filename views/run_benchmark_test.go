package views

import (
	"context"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

func benchmarkCard(cases ...job.CaseResult) RunCard {
	return RunCard{Run: work.Run{Mode: job.ModeBenchmark, State: work.StateDone},
		Stages: []StageView{{HasResult: true,
			Result: job.StageResult{Stage: job.StageBenchmark, Status: job.StatusPass, Cases: cases}}}}
}

func TestABenchmarkShowsWhatItMeasured(t *testing.T) {
	var out strings.Builder
	card := benchmarkCard(job.CaseResult{Status: job.StatusPass, Mean: 1000, Median: 1000},
		job.CaseResult{Status: job.StatusPass, Mean: 4000, Median: 4000})
	if err := Run(card).Render(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "2.000") ||
		!strings.Contains(text, "geometric mean of 2 cases, not ranked") {
		t.Error(text)
	}
	card.State = work.StateFailed
	if _, cases := card.benchmarkTime(); cases != 0 {
		t.Error("a failed benchmark has a time")
	}
}
