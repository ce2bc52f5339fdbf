package harness

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/tasks"
)

const timed = "benchmark-count: 2\nbenchmark.0.spec: n: 1\nbenchmark.0.runs: 2\nbenchmark.0.mean: 15\n" +
	"benchmark.0.best: 10\nbenchmark.0.worst: 20\nbenchmark.0.times: 10,20\nbenchmark.0.status: pass\n" +
	"benchmark.1.spec: n: 2\nbenchmark.1.runs: 1\nbenchmark.1.mean: 3\nbenchmark.1.status: pass\n"

// TestImplausibleReportsAreRefused: each is a good report with one forged value.
func TestImplausibleReportsAreRefused(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(timed, old, new, 1) + "check: pass\n" }
	tests := []struct {
		name, pipe string
		reason     string // reason for refusing the report; empty if it is accepted
	}{
		{"as it should be", timed + "check: pass\n", ""},
		{"the same line twice", timed + "benchmark.0.mean: 15\ncheck: pass\ncheck: pass\n", ""},
		{"another time after the verdict", timed + "check: pass\nbenchmark.0.mean: 1\n", "reported twice"},
		{"another time before it", timed + "benchmark.0.mean: 1\ncheck: pass\n", "reported twice"},
		{"a case after the verdict", timed + "check: pass\nbenchmark.1.median: 3\n", "after its verdict"},
		{"another verdict", timed + "check: pass\ncheck: fail word\n", "reported twice"},
		{"too many cases", swap("benchmark.1.runs", "benchmark.2.runs: 4\nbenchmark.1.runs"), "more cases than the 2"},
		{"too few cases", swap("benchmark.1.status: pass\n", "benchmark.1.status: fail\n"), "1 of 2 cases"},
		{"another case", swap("spec: n: 2", "spec: n: 3"), "case 1 as another"},
		{"a mean below the best", swap("mean: 15", "mean: 9"), "times of case 0"},
		{"a mean above the worst", swap("mean: 15", "mean: 21"), "times of case 0"},
		{"a mean that is not that of the times", swap("times: 10,20", "times: 10,11"), "times of case 0"},
		{"fewer times than runs", swap("times: 10,20", "times: 15"), "times of case 0"},
		{"a time of nothing", swap("times: 10,20", "times: 0,30"), "times of case 0"},
		{"no number", swap("mean: 3", "mean: nan"), "times of case 1"},
		{"no time at all", swap("mean: 3", "mean: 0"), "times of case 1"},
		{"a forged denormal", swap("mean: 3", "mean: 1.1e-308"), "times of case 1"},
		{"less than a clock shows", swap("times: 10,20", "times: 0.5,29.5"), "times of case 0"},
		{"endless", swap("mean: 3", "mean: inf"), "times of case 1"},
		{"before it began", swap("mean: 3", "mean: -3"), "times of case 1"},
		{"a clock beside the times", swap("runs: 1",
			"median: 3\nbenchmark.1.best: 3\nbenchmark.1.worst: 3\nbenchmark.1.clock: wall\nbenchmark.1.runs: 1"), ""},
		{"a clock that no one has", swap("runs: 1",
			"median: 3\nbenchmark.1.best: 3\nbenchmark.1.worst: 3\nbenchmark.1.clock: sundial\nbenchmark.1.runs: 1"),
			"times of case 1"},
		{"a clock without the median that counts", swap("runs: 1", "clock: event\nbenchmark.1.runs: 1"),
			"times of case 1"},
		{"a median below the best", swap("times: 10,20",
			"times: 10,20\nbenchmark.0.median: 9\nbenchmark.0.clock: event"), "times of case 0"},
		{"more late calls than calls",
			swap("times: 10,20", "times: 10,20\nbenchmark.0.median: 15\nbenchmark.0.clock: wall\nbenchmark.0.late: 3"),
			"times of case 0"},
		{"no runs", swap("runs: 1", "runs: 0"), "times of case 1"},
		{"flood", strings.Repeat("x: y\n", maxPipeBytes/5+1) + timed + "check: pass\n", "more than a result can hold"},
	}
	want := []tasks.Case{{{Name: "n", Value: "1"}}, {{Name: "n", Value: "2"}}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := NewParser(nil)
			p.Write([]byte(tt.pipe))
			p.Close()
			status, failure := StageVerdict(judge.StageEnding{}, time.Minute, p, want)
			if believed := status == job.StatusPass; believed != (tt.reason == "") {
				t.Fatalf("got %s, %+v", status, failure)
			}
			if failure != nil && !strings.Contains(failure.Reason, tt.reason) {
				t.Errorf("reason %q; want ...%s...", failure.Reason, tt.reason)
			}
		})
	}
}

// TestProgramsOfBundlesAreBelieved: a bundle's own program decides alone, so all that it reports is accepted.
func TestProgramsOfBundlesAreBelieved(t *testing.T) {
	for name, pipe := range map[string]string{
		"tests":                 "test-count: 1\ntest.0.spec: seed: 1\ntest.0.status: pass\ntest.0.message: fine\ncheck: pass\n",
		"times and no status":   "benchmark-count: 1\nbenchmark.0.spec: n: 1\nbenchmark.0.runs: 3\nbenchmark.0.mean: 1000.0\nbenchmark.0.std: 1.5\nbenchmark.0.err: 0.9\nbenchmark.0.best: 999.0\nbenchmark.0.worst: 1001.5\ncheck: pass\n",
		"a report of a profile": "benchmark-count: 1\nbenchmark.0.spec: n: 1\nbenchmark.0.report: aGVsbG8=\ncheck: pass\n",
		"a mean alone":          "benchmark.0.mean: 1234.5\ncheck: pass\n",
		"rounded numbers":       "benchmark.0.runs: 1\nbenchmark.0.mean: 1.23456e+06\nbenchmark.0.best: 1234564\nbenchmark.0.worst: 1234564\ncheck: pass\n",
		"a verdict and extras":  "benchmark.0.runs: 3\nbenchmark.0.mean: 2\nspeedup: 1.5\ncheck: pass\nfwd_bw: 12\n",
	} {
		if status, failure := StageVerdict(judge.StageEnding{}, time.Minute, parse(pipe), nil); status != job.StatusPass {
			t.Errorf("%s: %s, %+v", name, status, failure)
		}
	}
}
