package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

func judged(event, wallTime, snapshot, tolerance float64, counts job.Clock, late, runs int) job.CaseResult {
	return job.CaseResult{Runs: runs, ClockTimes: job.ClockTimes{
		CountedClock: counts, EventTime: event, WallTime: wallTime, SnapshotTime: snapshot, WallTolerance: tolerance,
		LateCalls: late,
	}}
}

func TestClocksThatDisagreeSayWhichOneCounts(t *testing.T) {
	for name, test := range map[string]struct {
		result job.CaseResult
		want   []string // parts of the notes, in order
	}{
		"no judge":   {job.CaseResult{}, nil},
		"they agree": {judged(100e3, 101e3, 100e3, 5e3, job.ClockEvent, 0, 10), nil},
		"wall is larger": {judged(10e3, 90e3, 20e3, 5e3, job.ClockWall, 0, 10),
			[]string{"Judge: 90.00\u00a0µs (counts"}},
		"the answer came late": {judged(10e3, 12e3, 90e3, 5e3, job.ClockSnapshot, 0, 10),
			[]string{"Judge: answer after 90.00\u00a0µs (counts"}},
		"the events are larger": {judged(100e3, 80e3, 80e3, 5e3, job.ClockEvent, 0, 10),
			[]string{"The larger one counts."}},
		"wall is larger in some processes": {judged(28e3, 2087e3, 28e3, 5e3, job.ClockEvent, 0, 10),
			[]string{"In other processes of this run both clocks agreed on the runner's time"}},
		"some were late": {judged(100e3, 101e3, 100e3, 5e3, job.ClockEvent, 1, 10), []string{"1 of 10 calls were released after 10\u00a0ms"}},
		"most were late": {judged(100e3, 101e3, 100e3, 5e3, job.ClockWall, 9, 10), []string{"(9 of 10 calls)"}},
	} {
		notes := clockNotes(test.result)
		if len(notes) != len(test.want) {
			t.Errorf("%s: %d notes: %q", name, len(notes), notes)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(notes[i], want) {
				t.Errorf("%s: %q, want %q in it", name, notes[i], want)
			}
		}
	}
}

func TestRunsThatNoJudgeTimedSaySo(t *testing.T) {
	timed := func(c job.CaseResult) RunCard {
		c.Mean = 1000
		return RunCard{Stages: []StageView{{HasResult: true, Result: job.StageResult{
			Stage: job.StageRanked,
			Cases: []job.CaseResult{c},
		}}}}
	}
	own := timed(job.CaseResult{})
	own.MeasuredByTaskProgram = true
	for name, test := range map[string]struct {
		run  RunCard
		want bool
	}{
		"an older harness": {timed(job.CaseResult{}), true},
		"a judge":          {timed(judged(1, 1, 1, 1, job.ClockEvent, 0, 1)), false},
		"the task's own":   {own, false},
		"nothing timed":    {RunCard{}, false},
	} {
		if got := test.run.lacksJudgeTimes(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestOfTwoTimedStagesTheOneThatScoresIsOpen(t *testing.T) {
	stage := func(name job.Stage, status job.Status) StageView {
		return StageView{
			HasResult: true,
			Result:    job.StageResult{Stage: name, Status: status, Cases: []job.CaseResult{{Mean: 5, Status: status}}},
		}
	}
	benchmark, ranked := stage(job.StageBenchmark, job.StatusPass), stage(job.StageRanked, job.StatusPass)
	both := RunCard{Stages: []StageView{benchmark, ranked}}
	if both.casesStartOpen(benchmark) || !both.casesStartOpen(ranked) {
		t.Error("the benchmark hides the ranked stage")
	}
	if alone := (RunCard{Stages: []StageView{benchmark}}); !alone.casesStartOpen(benchmark) {
		t.Error("a benchmark alone is closed")
	}
	if failed := stage(job.StageBenchmark, job.StatusFail); !both.casesStartOpen(failed) {
		t.Error("a failed benchmark is closed")
	}
	score := 5.0
	both.ScoreNS, both.RankingRule = &score, "Geometric mean of the benchmark cases"
	if got := both.casesHeading(ranked); got != "1 case passed; the score is the geometric mean of the benchmark cases" {
		t.Errorf("summary %q", got)
	}
}

func TestEachStatusHasAWordAndAClass(t *testing.T) {
	for status, want := range map[job.Status][2]string{
		job.StatusPass: {"passed", "stage-pass"}, job.StatusFail: {"wrong answer", "stage-fail"}, job.StatusError: {"error", "stage-fail"},
		job.StatusTimeout: {"too slow", "stage-fail"}, job.StatusLimitExceeded: {"over a limit", "stage-fail"},
		job.StatusCancelled: {"cancelled", "stage-wait"}, "odd": {"odd", "stage-fail"},
	} {
		s := StageView{HasResult: true, Result: job.StageResult{Status: status}}
		if got := [2]string{statusText(status), s.cssClass()}; got != want {
			t.Errorf("%s: %v, want %v", status, got, want)
		}
	}
	for stage, want := range map[job.Stage]string{job.StageSecret: "Secret check", "new": "new"} {
		if got := (StageView{Result: job.StageResult{Stage: stage}}).Name(); got != want {
			t.Errorf("%s is called %q", stage, got)
		}
	}
}

func TestMachinesListWhatIsKnown(t *testing.T) {
	got := MachineFacts(job.Machine{DeviceName: "NVIDIA H200", Driver: "550", GPUConditions: map[string]string{"sm_clock": "1980 MHz", "power_limit": "700 W"}}, "1.4.0")
	want := []NamedValue{{"Device", "NVIDIA H200"}, {"Driver", "550"}, {"Harness", "1.4.0"}, {"Power limit", "700 W"}, {"SM clock", "1980 MHz"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if facts := (RunCard{}).MeasuringConditions(); facts != nil {
		t.Errorf("conditions of no machine: %v", facts)
	}
}

func TestACardSaysWhoseRankedRunItIs(t *testing.T) {
	score := 5e6
	var r RunCard
	r.Mode, r.State, r.Device, r.ScoreNS = job.ModeRanked, work.StateDone, "CPU", &score
	r.Outcome.Rank, r.Outcome.IsEntry, r.Outcome.IsPersonsFirst = 1, true, true
	if text := show(t, Run(r)).Text(); !strings.Contains(text, "their first ranked run") || !strings.Contains(text, "Report or review") {
		t.Errorf("the card says %q", text)
	}
}
