package toolchain

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
)

func TestCasesThatDoNotFitEndWithASentence(t *testing.T) {
	tests := []struct {
		name   string
		job    job.Job
		spec   string
		stderr string
	}{
		{"C++, missing argument", cppJob(t, "correct.cpp"), "seed: 1; size: 4; kind: plain", "has no argument 'scale'"},
		{"C++, no integer", cppJob(t, "correct.cpp"), "seed: 1; size: 4x; scale: 1; kind: plain",
			"'4x' is no fitting value for size"},
		{"C++, too big for int", cppJob(t, "correct.cpp"), "seed: 1; size: 4294967296; scale: 1; kind: plain",
			"no fitting value for size"},
		{"C++, no value", cppJob(t, "correct.cpp"), "seed: 1; size: ; scale: 1", "invalid case"},
		{"Python, no value", pyJob(t, "correct.py"), "seed: 1; size: ", "invalid case"},
		{"Python, no key", pyJob(t, "correct.py"), "1size: 4", "invalid case"},
	}
	b := newBuilder()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := mustBuild(t, b, tt.job)
			r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test", Cases: cases(tt.spec)}, 1)
			out := r.outcome.Outcome
			if r.outcome.JudgeOutcome != nil {
				out = *r.outcome.JudgeOutcome
			}
			if out.ExitCode != 113 || !strings.Contains(out.Stderr, tt.stderr) {
				t.Errorf("exit code %d, %q; want 113, ...%s...", out.ExitCode, out.Stderr, tt.stderr)
			}
			if !strings.Contains(r.failure.Reason, "could not read this case's arguments") {
				t.Errorf("reason %q", r.failure.Reason)
			}
		})
	}
}

// argumentsReference makes the Python harness print the arguments that it makes of a case.
const argumentsReference = `
def generate_input(**arguments):
    return sorted((name, repr(value)) for name, value in arguments.items())

def check_implementation(data, output):
    return str(output)
`

func TestPythonArgumentsHaveTheirTypes(t *testing.T) {
	j := pyJob(t, "correct.py")
	j.Sources["reference.py"] = []byte(argumentsReference)
	j.Sources["submission.py"] = []byte("def custom_kernel(data): return data\n")
	spec := "n: 3; x: 1e-05; neg: -2; yes: True; no: False; nothing: None; list: [1, 2]; word: lapack_dense_2; size2: +4"
	r := buildAndRun(t, j, StageRequest{Mode: "test", Cases: cases(spec)})
	want := `[('list', '[1, 2]'), ('n', '3'), ('neg', '-2'), ('no', 'False'), ('nothing', 'None'), ('size2', '4'), ` +
		`('word', "'lapack_dense_2'"), ('x', '1e-05'), ('yes', 'True')]`
	if len(r.cases) != 1 || r.cases[0].Message != want {
		t.Errorf("got %+v\nwant %s", r.cases, want)
	}
}

// TestTheFirstCallOfATestHasTheCasesSeed checks that the first call of a test uses the case's own seed, so that the
// submission's author can reproduce its input.
func TestTheFirstCallOfATestHasTheCasesSeed(t *testing.T) {
	tier.Needs(t, tier.Judge)
	python := pyJob(t, "correct.py")
	python.Sources["reference.py"] = []byte(
		"def generate_input(seed): return seed\ndef check_implementation(data, output): return f'seed is {data}'\n")
	python.Sources["submission.py"] = []byte("def custom_kernel(data): return data\n")
	cpp := cppJob(t, "correct.cpp")
	cpp.Sources["task.h"] = []byte(
		"#pragma once\n#include <array>\nusing input_t = long; using output_t = long;\nconstexpr std::array<const char*, 1> ArgumentNames = {\"seed\"};\n")
	cpp.Sources["reference.h"] = []byte("static input_t generate_input(int seed) { return seed; }\n" +
		"static void check_implementation(TestReporter& reporter, input_t data, output_t) { reporter.fail() << \"seed is \" << data; }\n")
	cpp.Sources["submission.cpp"] = []byte(
		"#include \"task.h\"\noutput_t custom_kernel(input_t data) { return data; }\n")
	for _, j := range []job.Job{python, cpp} {
		r := buildAndRun(t, j, StageRequest{Mode: "test", Cases: cases("seed: 5")})
		if len(r.cases) != 1 || r.cases[0].Message != "seed is 5" {
			t.Errorf("%s: got %+v, want \"seed is 5\"\n%s", j.Task.Lang, r.cases, r.outcome.Stderr)
		}
	}
}
