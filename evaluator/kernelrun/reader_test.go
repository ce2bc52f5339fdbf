package kernelrun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is a program's pipe up to somewhere.
func said(lines ...string) *Reader {
	r := NewReader(func(string) {})
	for _, line := range lines {
		for _, piece := range []string{line[:len(line)/2], line[len(line)/2:] + "\n"} {
			r.Write([]byte(piece))
		}
	}
	return r
}

const (
	compilingCustom = `{"stage":"compiling","kernel":"custom"}`
	customCompiled  = `{"report":{"compiled":true,"correctness":false}}`
	compilingRef    = `{"stage":"compiling","kernel":"ref"}`
	validating      = `{"stage":"validating"}`
	right           = `{"report":{"compiled":true,"correctness":true,"max_difference":"inf"}}`
	profiling       = `{"stage":"profiling"}`
)

func TestACrashIsBlamedOnWhatWasUnderWay(t *testing.T) {
	crash := Ending{ExitCode: 139, Signal: "SIGSEGV"}
	for _, tt := range []struct {
		name  string
		lines []string
		end   Ending
		want  Report
	}{
		{"custom", []string{compilingCustom}, crash,
			Report{CompilationError: "Compilation error:\nThe kernel's process was killed by SIGSEGV while compiling."}},
		{"ref", []string{compilingCustom, customCompiled, compilingRef}, crash, Report{Compiled: true,
			RefCompilationError: "Compilation error:\nThe kernel's process was killed by SIGSEGV while compiling.", ValidationError: skipped}},
		{"validating", []string{compilingCustom, customCompiled, validating}, crash,
			Report{Compiled: true, ValidationError: "The kernel's process was killed by SIGSEGV while validating."}},
		{"profiling", []string{compilingCustom, customCompiled, validating, right, profiling}, Ending{Limit: "memory"},
			Report{Compiled: true, Correctness: true, MaxDifference: "inf", ProfilingError: "Profiling failed:\nThe kernel's process hit its memory limit and was killed while profiling."}},
		{"it left", []string{compilingCustom, customCompiled, validating}, Ending{},
			Report{Compiled: true, ValidationError: "The kernel's process ended by itself, with exit code 0, while validating."}},
		{"done", []string{compilingCustom, customCompiled, validating, right, profiling, `{"done":true}`}, Ending{ExitCode: 1},
			Report{Compiled: true, Correctness: true, MaxDifference: "inf"}},
		{"garbage", []string{"{", compilingCustom, customCompiled, `{"stage":"winning"}`, "", `{"done":true}`}, Ending{}, Report{Compiled: true}},
	} {
		result, err := said(tt.lines...).Conclude(tt.end)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, result.Report); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestAProgramThatNeverBeganIsNotTheKernelsFault(t *testing.T) {
	_, err := said().Conclude(Ending{ExitCode: 1, Stderr: "Traceback\nImportError: libcudart\n"})
	if err == nil || !strings.Contains(err.Error(), "ImportError: libcudart") {
		t.Errorf("error: %v", err)
	}
	if result, err := said().Conclude(Ending{Limit: "wall"}); err != nil || !result.TimedOut {
		t.Errorf("a time limit before it began: %+v, %v", result, err)
	}
}

func TestAFloodOnThePipeIsBounded(t *testing.T) {
	r := NewReader(func(string) {})
	flood := []byte(strings.Repeat("x", 1<<20))
	for range 100 {
		r.Write(flood)
	}
	if len(r.line) > maxLine {
		t.Errorf("%d bytes are kept", len(r.line))
	}
}

func TestStagesAreToldOnceAndTimed(t *testing.T) {
	var told []string
	r := NewReader(func(stage string) { told = append(told, stage) })
	r.Write([]byte(strings.Join([]string{compilingCustom, compilingRef, validating, profiling, ""}, "\n")))
	result, err := r.Conclude(Ending{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{StageCompiling, StageValidating, StageProfiling}, told); diff != "" || len(result.StageSeconds) != 3 {
		t.Errorf("%s %v", diff, result.StageSeconds)
	}
}

func TestAResultIsSlimmedByWhatIsMissedLeast(t *testing.T) {
	result := Result{Stdout: "printed", Metrics: map[string]Metrics{"custom": {Device: map[string]map[string]any{"a": {"b": 1.0}}, Report: []byte(`{}`)}}}
	result.Compiled, result.Times = true, []float64{1, 2}
	want := Result{Metrics: map[string]Metrics{"custom": {Device: map[string]map[string]any{"a": {"b": 1.0}}}}}
	want.Compiled = true
	if diff := cmp.Diff(want, result.Slim()); diff != "" {
		t.Error(diff)
	}
}
