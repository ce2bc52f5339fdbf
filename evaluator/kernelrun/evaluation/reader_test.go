package evaluation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
)

// readerOf returns a reader that has parsed these lines.
func readerOf(lines ...string) *reportReader {
	r := newReportReader(func(string) {})
	for _, line := range lines {
		for _, piece := range []string{line[:len(line)/2], line[len(line)/2:] + "\n"} {
			r.read([]byte(piece))
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
	profiled        = `{"stage":"profiling"}`
)

func TestACrashIsBlamedOnWhatWasUnderWay(t *testing.T) {
	crash := sandbox.Outcome{ExitCode: 139, Signal: "SIGSEGV"}
	for _, tt := range []struct {
		name  string
		lines []string
		end   sandbox.Outcome
		want  kernelrun.Report
	}{
		{"custom", []string{compilingCustom}, crash,
			kernelrun.Report{CompilationError: "Compilation error:\nThe kernel's process was killed by SIGSEGV while compiling."}},
		{"ref", []string{compilingCustom, customCompiled, compilingRef}, crash,
			kernelrun.Report{Compiled: true, Fault: "reference",
				RefCompilationError: "Compilation error:\nThe kernel's process was killed by SIGSEGV while compiling.",
				ValidationError:     skippedMessage}},
		{"validating", []string{compilingCustom, customCompiled, validating}, crash,
			kernelrun.Report{Compiled: true,
				ValidationError: "The kernel's process was killed by SIGSEGV while validating."}},
		{"profiling", []string{compilingCustom, customCompiled, validating, right, profiled},
			sandbox.Outcome{ExceededLimit: "memory"},
			kernelrun.Report{Compiled: true, Correctness: true, MaxDifference: "inf",
				ProfilingError: "Profiling failed:\nThe kernel's process hit its memory limit and was killed while profiling."}},
		{"the reference", []string{compilingCustom, customCompiled, compilingRef, validating, `{"gone":"ref"}`}, crash,
			kernelrun.Report{Compiled: true, Fault: "reference",
				ValidationError: "The reference's process was killed by SIGSEGV while validating."}},
		{"the inputs", []string{compilingCustom, customCompiled, validating, `{"gone":"inputs"}`},
			sandbox.Outcome{ExceededLimit: "memory"},
			kernelrun.Report{Compiled: true,
				ValidationError: "The process that draws the inputs hit its memory limit and was killed while validating."}},
		{"it broke the protocol", []string{compilingCustom, customCompiled, validating, right, profiled,
			`{"refused":"It wrote where it should not."}`}, sandbox.Outcome{},
			kernelrun.Report{Compiled: true, MaxDifference: "inf", ValidationError: "It wrote where it should not."}},
		{"it left", []string{compilingCustom, customCompiled, validating}, sandbox.Outcome{},
			kernelrun.Report{Compiled: true,
				ValidationError: "The kernel's process exited with code 0 while validating."}},
		{"done", []string{compilingCustom, customCompiled, validating, right, profiled, `{"done":true}`},
			sandbox.Outcome{ExitCode: 1},
			kernelrun.Report{Compiled: true, Correctness: true, MaxDifference: "inf"}},
		{"garbage", []string{"{", compilingCustom, customCompiled, `{"stage":"winning"}`, "", `{"done":true}`},
			sandbox.Outcome{}, kernelrun.Report{Compiled: true}},
	} {
		result, err := readerOf(tt.lines...).conclude(judge.StageEnding{Outcome: tt.end})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, result.Report); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
	}
}

func TestAnErrorOfTheDeviceIsNamedWhereItEndsTheProcess(t *testing.T) {
	for stderr, want := range map[string]string{
		"RuntimeError: CUDA error: an illegal memory access was encountered\nCUDA kernel errors might\n":  " It reported: CUDA error: an illegal memory access was encountered.",
		"RuntimeError: cuStreamWriteValue32_v2 failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)\n":                " It reported: CUDA error: an illegal memory access was encountered.",
		"CUDA error: misaligned address\nRuntimeError: cuLaunchKernel failed: CUDA_ERROR_LAUNCH_FAILED\n": " It reported: CUDA_ERROR_LAUNCH_FAILED.",
		"ValueError: x\n": "",
	} {
		r := readerOf(compilingCustom, customCompiled, validating)
		r.stderr([]byte(stderr))
		result, err := r.conclude(judge.StageEnding{Outcome: sandbox.Outcome{ExitCode: 1}})
		if got := "The kernel's process exited with code 1 while validating." + want; err != nil ||
			result.ValidationError != got {
			t.Errorf("%q: %q, %v", stderr, result.ValidationError, err)
		}
	}
}

// TestAJudgeThatFailsIsNotTheKernelsFault parses reports of judges that ended in different ways.
func TestAJudgeThatFailsIsNotTheKernelsFault(t *testing.T) {
	_, err := readerOf(compilingCustom).conclude(judge.StageEnding{JudgeOutcome: &sandbox.Outcome{ExitCode: 1,
		Stderr: "Traceback\nKeyError: 'x'\n"}})
	if err == nil || !strings.Contains(err.Error(), "KeyError") {
		t.Errorf("a crash: %v", err)
	}
	result, err := readerOf(compilingCustom, customCompiled,
		validating).conclude(judge.StageEnding{JudgeOutcome: &sandbox.Outcome{ExceededLimit: "memory"}})
	if err != nil || result.ExceededLimit != "memory" ||
		!strings.Contains(result.ValidationError,
			"judge's process, which holds inputs and outputs too, hit its memory limit") {
		t.Errorf("no memory: %+v, %v", result, err)
	}
}

func TestAProgramThatNeverBeganIsNotTheKernelsFault(t *testing.T) {
	_, err := readerOf().conclude(judge.StageEnding{Outcome: sandbox.Outcome{ExitCode: 1,
		Stderr: "Traceback\nImportError: libcudart\n"}})
	if err == nil || !strings.Contains(err.Error(), "ImportError: libcudart") {
		t.Errorf("error: %v", err)
	}
	if result, err := readerOf().conclude(judge.StageEnding{Outcome: sandbox.Outcome{ExceededLimit: "wall"}}); err != nil ||
		!result.TimedOut {
		t.Errorf("a time limit before it began: %+v, %v", result, err)
	}
}

func TestAFloodOnThePipeIsBounded(t *testing.T) {
	const done = "\n{\"done\":true}\n"
	flood := []byte(strings.Repeat("x", 1<<20))
	for _, tt := range []struct {
		pieces int
		done   bool
	}{{maxReportLine>>20 + 1, true}, {maxReportBytes >> 20, false}} {
		r := newReportReader(func(string) {})
		for range tt.pieces {
			r.read(flood)
		}
		r.read([]byte(done))
		if r.isComplete != tt.done {
			t.Errorf("after %d MiB: done %v", tt.pieces, r.isComplete)
		}
	}
}

// TestAReportThatIsTooLargeIsNotTheJudgesFault checks that a request with such a report gets a result: as an
// infrastructure error it would be tried again.
func TestAReportThatIsTooLargeIsNotTheJudgesFault(t *testing.T) {
	r := readerOf(compilingCustom, customCompiled, validating)
	for range maxReportBytes >> 20 {
		r.read([]byte(strings.Repeat("x", 1<<20-1) + "\n"))
	}
	r.read([]byte(`{"done":true}` + "\n"))
	result, err := r.conclude(judge.StageEnding{JudgeOutcome: &sandbox.Outcome{}})
	if want := "The evaluation's report is larger than 64 MiB: send smaller cases."; err != nil || result.ValidationError != want {
		t.Errorf("%q, %v", result.ValidationError, err)
	}
}

func TestStagesAreReportedOnceAndTimed(t *testing.T) {
	var stages []string
	r := newReportReader(func(stage string) { stages = append(stages, stage) })
	r.read([]byte(strings.Join([]string{compilingCustom, compilingRef, validating, profiled, ""}, "\n")))
	result, err := r.conclude(judge.StageEnding{Outcome: sandbox.Outcome{}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{kernelrun.StageCompiling, kernelrun.StageValidating, kernelrun.StageProfiling},
		stages); diff != "" || len(result.StageSeconds) != 3 {
		t.Errorf("%s %v", diff, result.StageSeconds)
	}
}

func TestAKernelFailsUnlessTheReferenceOrTheTimeLimitEndsTheStage(t *testing.T) {
	const done, untimed = `{"done":true}`, `{"report":{"compiled":true,"correctness":true,"profiling_error":"x"}}`
	crash := sandbox.Outcome{ExitCode: 139, Signal: "SIGSEGV"}
	for name, tt := range map[string]struct {
		lines []string
		end   sandbox.Outcome
		want  bool
	}{
		"right":                   {[]string{right, done}, sandbox.Outcome{}, false},
		"wrong":                   {[]string{customCompiled, done}, sandbox.Outcome{}, true},
		"not timed":               {[]string{untimed, done}, sandbox.Outcome{}, false},
		"raises":                  {[]string{untimed, `{"raised":true}`, done}, sandbox.Outcome{}, true},
		"crashes":                 {[]string{compilingCustom, validating, right, profiled, `{"gone":"custom"}`}, crash, true},
		"a reference that fails":  {[]string{`{"report":{"fault":"reference"}}`, done}, sandbox.Outcome{}, false},
		"a reference that is out": {[]string{compilingCustom, validating, right, profiled, `{"gone":"ref"}`}, crash, false},
		"the time limit": {[]string{compilingCustom, validating}, sandbox.Outcome{ExceededLimit: "wall"},
			false},
	} {
		r := readerOf(tt.lines...)
		if _, err := r.conclude(judge.StageEnding{Outcome: tt.end}); err != nil && tt.end.Signal != "" {
			t.Errorf("%s: %v", name, err)
		}
		if got := r.customKernelFailed(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
