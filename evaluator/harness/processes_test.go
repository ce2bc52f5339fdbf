package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// timedCase returns a judge's report of one case of one process, in which every repeat takes ns.
func timedCase(index int, ns float64, clock string) string {
	lines := fmt.Sprintf(
		"spec: a: %d\nruns: 2\nmean: %[2]g\nstd: 0\nerr: 0\nbest: %[2]g\nworst: %[2]g\nmedian: %[2]g\np95: %[2]g\ntimes: %[2]g,%[2]g\n"+
			"clock: %[3]s\nevent: %[2]g\nwall: %[2]g\nsnapshot: %[2]g\nlate: 0\ntolerance: 10\nhandover: %[4]g\nstatus: pass\n", index+1, ns, clock, ns/10)
	return fmt.Sprintf("benchmark.%d.", index) + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n",
		fmt.Sprintf("\nbenchmark.%d.", index)) + "\n"
}

func process(number int, cases ...string) string {
	return fmt.Sprintf("benchmark-count: %d\n%sprocess: %d\n", len(cases), strings.Join(cases, ""), number)
}

func byProcess(pipe string) *Parser {
	p := NewParser(nil).ExpectProcesses()
	p.Write([]byte(pipe))
	p.Close()
	return p
}

var bothCases = []tasks.Case{{{Name: "a", Value: "1"}}, {{Name: "a", Value: "2"}}}

func TestTheLongestSetupOfACasesProcessesIsShown(t *testing.T) {
	p := byProcess(process(0, "benchmark.0.setup: 300\n"+timedCase(0, 100, "event")) +
		process(1, "benchmark.0.setup: 700\n"+timedCase(0, 100, "event")) + process(2, timedCase(0, 100, "event")) + "check: pass\n")
	if got := p.Cases()[0]; got.SetupNS != 700 || got.Median != 100 {
		t.Errorf("%+v", got)
	}
}

func TestACaseCountsByTheMedianOfItsProcessesMedians(t *testing.T) {
	p := byProcess(process(0, timedCase(0, 100, "event"), timedCase(1, 20, "event")) +
		process(1, timedCase(0, 130, "wall"), timedCase(1, 30, "event")) +
		process(2, timedCase(0, 110, "snapshot"), timedCase(1, 10, "event")) + "check: pass\n")
	if status, failure := StageVerdict(judge.StageEnding{JudgeOutcome: &sandbox.Outcome{}}, time.Minute,
		p, bothCases); status != job.StatusPass {
		t.Fatalf("got %s, %+v", status, failure)
	}
	got := p.Cases()[0]
	want := job.CaseResult{Index: 0, SpecLine: "a: 1", Status: job.StatusPass, Runs: 6, Mean: got.Mean, StandardDeviation: got.StandardDeviation,
		StandardError: got.StandardError,
		Best:          100, Worst: 130, Median: 110, P95: got.P95, Times: []float64{100, 100, 130, 130, 110, 110},
		ProcessMedians: []float64{100, 130, 110},
		ClockTimes: job.ClockTimes{CountedClock: job.ClockSnapshot, EventTime: 110, WallTime: 110, SnapshotTime: 110,
			WallTolerance: 10,
			EmptyCallTime: 11}}
	if diff := cmp.Diff(want, got); diff != "" || got.Mean < 113.3 || got.Mean > 113.4 || got.StandardDeviation < 13 || got.StandardDeviation > 14 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if score, err := Score(tasks.RankLastCase, p.Cases()); err != nil || score != 20 {
		t.Errorf("the score is %v, %v", score, err)
	}
}

// TestADisturbedJudgesClockInOneProcessMovesNoScore: in the other processes the runner's clock counted, so it counts in
// this one, too.
func TestADisturbedJudgesClockInOneProcessMovesNoScore(t *testing.T) {
	disturbed := strings.NewReplacer("event: 130", "event: 101").Replace(timedCase(0, 130, "wall"))
	p := byProcess(process(0, timedCase(0, 100, "event")) + process(1, disturbed) + process(2,
		timedCase(0, 102, "event")) + "check: pass\n")
	got := p.Cases()[0]
	if got.Median != 101 || !slices.Equal(got.ProcessMedians, []float64{100, 101, 102}) ||
		got.ClockTimes.CountedClock != job.ClockEvent {
		t.Errorf("got %v from %v by %s", got.Median, got.ProcessMedians, got.ClockTimes.CountedClock)
	}
}

// TestTheRunnersClockCountsIfTwoOfFiveProcessesAgree: the runner's time then counts in the other processes if it is
// about the same there.
func TestTheRunnersClockCountsIfTwoOfFiveProcessesAgree(t *testing.T) {
	disturbed := func(event string) string {
		return strings.NewReplacer("event: 130", "event: "+event).Replace(timedCase(0, 130, "wall"))
	}
	honest, says101, says99, lies := timedCase(0, 100, "event"), disturbed("101"), disturbed("99"), disturbed("1")
	slow := strings.NewReplacer("event: 30000", "event: 101").Replace(timedCase(0, 30000, "wall"))
	for name, tt := range map[string]struct {
		parts  []string
		median float64
		counts job.Clock
	}{
		"two of five":                    {[]string{honest, honest, says101, says101, says101}, 101, job.ClockEvent},
		"one of five":                    {[]string{honest, says101, says101, says101, says101}, 130, job.ClockWall},
		"one of three":                   {[]string{honest, says101, says101}, 130, job.ClockWall},
		"one alone":                      {[]string{honest}, 100, job.ClockEvent},
		"two of five, and lies":          {[]string{honest, honest, lies, lies, lies}, 130, job.ClockWall},
		"two of five, 1 % less in more":  {[]string{honest, honest, says99, says99, says99}, 100, job.ClockEvent},
		"two of five, 30 µs in more":     {[]string{honest, honest, slow, slow, slow}, 30000, job.ClockWall},
		"two of five, lies and mistakes": {[]string{honest, honest, says101, lies, lies}, 101, job.ClockEvent},
	} {
		var pipe strings.Builder
		for i, part := range tt.parts {
			pipe.WriteString(process(i, part))
		}
		got := byProcess(pipe.String() + "check: pass\n").Cases()[0]
		if got.Median != tt.median || got.ClockTimes.CountedClock != tt.counts {
			t.Errorf("%s: got %v from %v by %s", name, got.Median, got.ProcessMedians, got.ClockTimes.CountedClock)
		}
	}
}

func TestAFailureNamesItsProcess(t *testing.T) {
	good := process(0, timedCase(0, 100, "event"), timedCase(1, 20, "event"))
	gone := judge.StageEnding{JudgeOutcome: &sandbox.Outcome{ExitCode: exitRunnerGone},
		Outcome: sandbox.Outcome{Signal: "SIGSEGV", ExitCode: 139}}
	for name, tt := range map[string]struct {
		end    judge.StageEnding
		pipe   string
		reason string
	}{
		"wrong answer": {judge.StageEnding{JudgeOutcome: &sandbox.Outcome{ExitCode: exitFailed}},
			good + "benchmark-count: 2\nbenchmark.0.spec: a: 1\nbenchmark.0.error: off\nbenchmark.0.status: fail\ncheck: fail\n",
			"Case 0 (a: 1) gave a wrong answer: off. It was right in the 1 fresh processes before."},
		"crash": {gone, good + "benchmark-count: 2\nbenchmark.0.spec: a: 1\n",
			"was killed by SIGSEGV in case 0 (a: 1) of fresh process 2"},
		"crash at import": {gone, good, "was killed by SIGSEGV before the first case of fresh process 2"},
		"a case is missing": {judge.StageEnding{JudgeOutcome: &sandbox.Outcome{}},
			good + process(1, timedCase(0, 100, "event")) +
				"check: pass\n", "1 of 2 cases of a fresh process"},
		"out of order": {judge.StageEnding{JudgeOutcome: &sandbox.Outcome{}},
			good + process(2, timedCase(0, 100, "event"), timedCase(1, 20, "event")) + "check: pass\n", "out of order"},
		"impossible times": {judge.StageEnding{JudgeOutcome: &sandbox.Outcome{}},
			good + process(1, strings.Replace(timedCase(0, 100, "event"), "median: 100", "median: 1", 1),
				timedCase(1, 20, "event")) + "check: pass\n", "impossible times of case 0"},
	} {
		t.Run(name, func(t *testing.T) {
			status, failure := StageVerdict(tt.end, time.Minute, byProcess(tt.pipe), bothCases)
			if status == job.StatusPass || !strings.Contains(failure.Reason, tt.reason) {
				t.Errorf("got %s, %+v; want ...%s...", status, failure, tt.reason)
			}
		})
	}
}

func TestADroppedProcessCountsNothing(t *testing.T) {
	p := NewParser(nil).ExpectProcesses()
	p.Write([]byte(process(0, timedCase(0, 100, "event"))))
	p.Write([]byte(process(1, timedCase(0, 900, "event"))))
	p.DropLastProcess()
	p.Write([]byte(process(2, timedCase(0, 102, "event")) + "check: pass\n"))
	p.Close()
	if diff := cmp.Diff([]float64{100, 102}, p.Cases()[0].ProcessMedians); diff != "" || p.ProcessCount() != 3 {
		t.Errorf("%d processes (-want +got):\n%s", p.ProcessCount(), diff)
	}
	if status, failure := StageVerdict(judge.StageEnding{JudgeOutcome: &sandbox.Outcome{}}, time.Minute,
		p, bothCases[:1]); status != job.StatusPass {
		t.Errorf("got %s, %+v", status, failure)
	}
}

func TestAProgramThatMeasuresItselfHasNoProcesses(t *testing.T) {
	p := parse(process(0, timedCase(0, 100, "event")) + process(1, timedCase(0, 90, "event")))
	if p.ProcessCount() != 0 || p.Cases()[0].ProcessMedians != nil || p.ExtraKeys()["process"] != "1" {
		t.Errorf("%d processes, %+v", p.ProcessCount(), p.Cases())
	}
}
