package harness

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
	"warpboard/evaluator/job"
)

// parse returns a parser that has parsed a whole report at once.
func parse(text string) *Parser {
	p := NewParser(nil)
	p.Write([]byte(text))
	p.Close()
	return p
}

func TestParserReadsWhatProgramsWrite(t *testing.T) {
	tests := []struct {
		name  string
		pipe  string
		check string
		total int
		cases []job.CaseResult
		extra map[string]string
	}{
		{
			name: "tests with message and error",
			pipe: "test-count: 2\ntest.0.spec: seed: 1; size: 2\ntest.0.status: pass\ntest.0.message: fine\n" +
				"test.1.spec: seed: 2; size: 3\ntest.1.status: fail\ntest.1.error: first line\\nsecond line\ncheck: fail\n",
			check: "fail", total: 2,
			cases: []job.CaseResult{
				{Index: 0, SpecLine: "seed: 1; size: 2", Status: job.StatusPass, Message: "fine"},
				{Index: 1, SpecLine: "seed: 2; size: 3", Status: job.StatusFail, Message: "first line\nsecond line"},
			},
		},
		{
			name: "a timed case without a status has passed",
			pipe: "benchmark-count: 1\nbenchmark.0.spec: size: 2\nbenchmark.0.runs: 3\nbenchmark.0.mean: 1.5e+05\nbenchmark.0.std: 1\n" +
				"benchmark.0.err: 0.5\nbenchmark.0.best: 1\nbenchmark.0.worst: 2e3\nbenchmark.0.median: 1.25\nbenchmark.0.p95: 7\n" +
				"benchmark.0.times: 1,2.5,3\ncheck: pass\n",
			check: "pass", total: 1,
			cases: []job.CaseResult{
				{
					SpecLine:          "size: 2",
					Status:            job.StatusPass,
					Runs:              3,
					Mean:              1.5e+05,
					StandardDeviation: 1,
					StandardError:     0.5,
					Best:              1,
					Worst:             2000,
					Median:            1.25,
					P95:               7,
					Times:             []float64{1, 2.5, 3},
				},
			},
		},
		{
			name: "how exact an answer is",
			pipe: "test-count: 2\ntest.0.numerics.elements: 12\ntest.0.numerics.unlike: 1\ntest.0.numerics.worst: [1, 2]\n" +
				"test.0.numerics.got: inf\ntest.0.numerics.want: 3\ntest.0.numerics.relative_max: 1.5e-07\ntest.0.numerics.relative_p99: 1e-07\n" +
				"test.0.numerics.ulp_max: 2.5\ntest.0.numerics.ulp_p99: -1\ntest.0.numerics.colour: red\ntest.0.status: pass\n" +
				"test.1.numerics.note: reference_fp64 must give doubles.\ntest.1.status: pass\ncheck: pass\n",
			check: "pass", total: 2,
			cases: []job.CaseResult{
				{
					Status: job.StatusPass,
					NumericError: &job.NumericError{Elements: 12, NonFinite: 1, WorstPosition: "[1, 2]", Got: "inf",
						Want:        "3",
						RelativeMax: 1.5e-07, RelativeP99: 1e-07, ULPMax: 2.5},
				},
				{
					Index:        1,
					Status:       job.StatusPass,
					NumericError: &job.NumericError{Note: "reference_fp64 must give doubles."},
				},
			},
			extra: map[string]string{"test.0.numerics.colour": "red"},
		},
		{
			name:  "a case that a judge timed",
			pipe:  judged,
			check: "pass",
			cases: []job.CaseResult{{SpecLine: "n: 1", Status: job.StatusPass, Runs: 3, Mean: 207000, Best: 206000,
				Worst: 209000, Median: 206000,
				Times: []float64{206000, 206000, 209000},
				ClockTimes: job.ClockTimes{
					CountedClock:  job.ClockSnapshot,
					EventTime:     1250,
					WallTime:      -3.5,
					SnapshotTime:  221000,
					LateCalls:     1,
					WallTolerance: 10000,
					EmptyCallTime: 154000,
				}}},
			extra: map[string]string{"clock.handover": "154000", "clock.spread": "450"},
		},
		{
			name:  "any order, the first of a key counts and repeats of it do not matter",
			pipe:  "test.1.status: pass\ntest.0.status: pass\ntest.1.spec: b\ntest.0.spec: a\n\n  test.0.status :  pass  \ntest.0.status: fail\ntest-count: 2\ncheck: pass\ncheck: pass\nfine: yes",
			check: "pass", total: 2,
			cases: []job.CaseResult{{Index: 0, SpecLine: "a", Status: job.StatusPass},
				{Index: 1, SpecLine: "b", Status: job.StatusPass}},
			extra: map[string]string{"fine": "yes"},
		},
		{
			name:  "ranked failure of the CUDA program: a test key and no check",
			pipe:  "benchmark-count: 1\nbenchmark.0.spec: size: 4\ntest-count: 1\ntest.0.status: fail\ntest.0.error: mismatch\n",
			total: 1, cases: []job.CaseResult{{SpecLine: "size: 4", Status: job.StatusFail, Message: "mismatch"}},
		},
		{
			name:  "unknown keys and junk",
			pipe:  "fwd_bw: 12.5\nno key here\n: no name\nbenchmark.0.report: aGVsbG8=\nbenchmark.x.mean: 3\ntest.-1.status: pass\ntest.99999999.status: pass\ncheck: pass\n",
			check: "pass", cases: []job.CaseResult{{}},
			extra: map[string]string{"fwd_bw": "12.5", "benchmark.0.report": "aGVsbG8=", "benchmark.x.mean": "3",
				"test.-1.status": "pass", "test.99999999.status": "pass"},
		},
		{
			name:  "times that no clock shows are no times",
			pipe:  "benchmark.0.runs: 1\nbenchmark.0.mean: nan\nbenchmark.0.best: -4\nbenchmark.0.worst: inf\nbenchmark.0.std: 1e999\nbenchmark.0.err: x\n",
			cases: []job.CaseResult{{Runs: 1}},
		},
		{
			name: "nor is less than a nanosecond, nor more than a life",
			pipe: "benchmark.0.runs: 3\nbenchmark.0.mean: 1.1e-308\nbenchmark.0.best: 0.999\nbenchmark.0.worst: 1e308\nbenchmark.0.median: 1e19\n" +
				"benchmark.0.times: 5e-324,1,1e18,0.5\nbenchmark.0.std: 0.25\nbenchmark.0.err: 1e300\n",
			cases: []job.CaseResult{{Runs: 3, Times: []float64{0, 1, 1e18, 0}, StandardDeviation: 0.25}},
		},
		{
			name: "bytes that are no UTF-8", pipe: "test.0.spec: \xff\xfe\ntest.0.status: pass\n",
			cases: []job.CaseResult{{SpecLine: "\uFFFD", Status: job.StatusPass}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(tt.pipe)
			if p.Verdict() != tt.check || p.AnnouncedCases() != tt.total {
				t.Errorf("check %q, total %d; want %q, %d", p.Verdict(), p.AnnouncedCases(), tt.check, tt.total)
			}
			if diff := cmp.Diff(tt.cases, p.Cases()); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
			if tt.extra == nil {
				tt.extra = map[string]string{}
			}
			if diff := cmp.Diff(tt.extra, p.ExtraKeys()); diff != "" {
				t.Errorf("extra (-want +got):\n%s", diff)
			}
		})
	}
}

// judged is the report of a case whose time comes from the judge's snapshot clock.
const judged = "clock.handover: 154000\nclock.spread: 450\nbenchmark.0.spec: n: 1\nbenchmark.0.runs: 3\nbenchmark.0.mean: 207000\n" +
	"benchmark.0.best: 206000\nbenchmark.0.worst: 209000\nbenchmark.0.median: 206000\nbenchmark.0.times: 206000,206000,209000\n" +
	"benchmark.0.clock: snapshot\nbenchmark.0.event: 1250\nbenchmark.0.events: 1250,1250,1300\nbenchmark.0.wall: -3.5\nbenchmark.0.walls: -4,-3.5,8\n" +
	"benchmark.0.snapshot: 221000\nbenchmark.0.snapshots: 221000,221000,224000\nbenchmark.0.late: 1\nbenchmark.0.prepared: 70000\n" +
	"benchmark.0.tolerance: 10000\nbenchmark.0.handover: 154000\nbenchmark.0.status: pass\ncheck: pass\n"

// TestManyJudgedCasesDoNotCrowdOutTheRest: three lists and eight numbers of each case once exhausted the limit for
// extra keys of a stage.
func TestManyJudgedCasesDoNotCrowdOutTheRest(t *testing.T) {
	const cases = 3500
	p := NewParser(nil)
	for i := range cases {
		_, lines, _ := strings.Cut(judged, "spread: 450\n")
		lines, _ = strings.CutSuffix(lines, "check: pass\n")
		p.Write([]byte(strings.ReplaceAll(lines, "benchmark.0.", fmt.Sprintf("benchmark.%d.", i))))
	}
	p.Write([]byte("refused: The runner left.\ncheck: pass\n"))
	p.Close()
	if p.inconsistency != "" || len(p.Cases()) != cases ||
		p.Cases()[cases-1].ClockTimes.CountedClock != job.ClockSnapshot {
		t.Errorf("%d of %d cases, inconsistency %q", len(p.Cases()), cases, p.inconsistency)
	}
	if diff := cmp.Diff(map[string]string{"refused": "The runner left."}, p.ExtraKeys()); diff != "" {
		t.Errorf("extra (-want +got):\n%s", diff)
	}
}

func TestCasesAreReportedAsSoonAsTheyEnd(t *testing.T) {
	var reported []string
	p := NewParser(func(c job.CaseResult, total int) {
		reported = append(reported, c.SpecLine+" "+string(c.Status)+" "+c.Message)
	})
	steps := []struct {
		piece string
		want  []string
	}{
		{"test-count: 2\ntest.0.spec: a\ntest.0.sta", nil},
		{"tus: pass\ntest.0.message: well done\n", nil}, // not complete: more lines may follow for this case
		{"test.1.spec: b\n", []string{"a pass well done"}},
		{"test.1.status: fail\ntest.1.error: off by one\ncheck: fail\n",
			[]string{"a pass well done", "b fail off by one"}},
	}
	for _, step := range steps {
		p.Write([]byte(step.piece))
		if diff := cmp.Diff(step.want, reported); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", step.piece, diff)
		}
	}
	p.Close()
	if len(reported) != 2 {
		t.Errorf("told again at the end: %q", reported)
	}
}

func TestEndlessReportsStayBounded(t *testing.T) {
	p := NewParser(nil)
	p.Write([]byte("test.0.message: "))
	block := []byte(strings.Repeat("x", 1<<20))
	for range 5 {
		p.Write(block)
	}
	p.Write([]byte("\ntest.0.status: pass\n"))
	if c := p.Cases()[0]; len(c.Message) > maxPipeLine || c.Status != job.StatusPass {
		t.Errorf("kept %d bytes, status %q", len(c.Message), c.Status)
	}
	for i := range 2 * maxExtraKeys {
		p.Write([]byte("key" + strings.Repeat("y", i) + ": value\n"))
	}
	if n := len(p.ExtraKeys()); n != maxExtraKeys {
		t.Errorf("kept %d unknown keys, want %d", n, maxExtraKeys)
	}
}

// FuzzParser checks that input in pieces is parsed like input at once, and that no input produces numbers that JSON
// cannot encode or text that a database refuses.
func FuzzParser(f *testing.F) {
	fuzztest.Moment(f)
	f.Add([]byte("test-count: 1\ntest.0.spec: seed: 1\ntest.0.status: pass\ncheck: pass\n"), 7)
	f.Add([]byte("benchmark.0.mean: 1e308\nbenchmark.0.times: 1,,nan\n\xff\n:\n"), 1)
	f.Fuzz(func(t *testing.T, pipe []byte, size int) {
		whole := parse(string(pipe))
		pieces := NewParser(nil)
		size = max(1, size%1024)
		for rest := pipe; len(rest) > 0; {
			n := min(size, len(rest))
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		pieces.Close()
		if diff := cmp.Diff(whole.Cases(), pieces.Cases()); diff != "" {
			t.Errorf("pieces differ:\n%s", diff)
		}
		if whole.Verdict() != pieces.Verdict() || !cmp.Equal(whole.ExtraKeys(), pieces.ExtraKeys()) {
			t.Error("check or extra differ")
		}
		for _, c := range whole.Cases() {
			for _, v := range append(c.Times, c.Mean, c.StandardDeviation, c.StandardError, c.Best, c.Worst, c.Median, c.P95) {
				if !(v >= 0 && v <= math.MaxFloat64) {
					t.Errorf("time %v", v)
				}
			}
			if _, err := json.Marshal(c); err != nil {
				t.Errorf("clocks %+v: %v", c.ClockTimes, err)
			}
			if c.Message != strings.ToValidUTF8(c.Message, "") || strings.ContainsRune(c.Message, 0) {
				t.Errorf("message %q", c.Message)
			}
		}
	})
}
