package toolchain

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

func TestCasesThatDoNotFitEndWithASentence(t *testing.T) {
	tests := []struct {
		name   string
		job    job.Job
		spec   string
		stderr string
	}{
		{"C++, missing argument", cppJob(t, "correct.cpp"), "seed: 1; size: 4; kind: plain", "has no argument 'scale'"},
		{"C++, no integer", cppJob(t, "correct.cpp"), "seed: 1; size: 4x; scale: 1; kind: plain", "'4x' is no fitting value for size"},
		{"C++, too big for int", cppJob(t, "correct.cpp"), "seed: 1; size: 4294967296; scale: 1; kind: plain", "no fitting value for size"},
		{"C++, no value", cppJob(t, "correct.cpp"), "seed: 1; size: ; scale: 1", "invalid case"},
		{"Python, no value", pyJob(t, "correct.py"), "seed: 1; size: ", "invalid case"},
		{"Python, no key", pyJob(t, "correct.py"), "1size: 4", "invalid case"},
	}
	b := newBuilder()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := mustBuild(t, b, tt.job)
			r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test", Cases: cases(tt.spec)}, 1)
			if r.outcome.ExitCode != 113 || !strings.Contains(r.outcome.Stderr, tt.stderr) {
				t.Errorf("exit code %d, %q; want 113, ...%s...", r.outcome.ExitCode, r.outcome.Stderr, tt.stderr)
			}
			if !strings.Contains(r.failure.Reason, "could not read this case's arguments") {
				t.Errorf("reason %q", r.failure.Reason)
			}
		})
	}
}

// argumentsReference lets the Python harness show what it makes of a case.
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

// Python mixes the secret into a case's seed as the original's programs do.
func TestSecretChangesTheSeed(t *testing.T) {
	python := pyJob(t, "correct.py")
	python.Sources["reference.py"] = []byte("def generate_input(seed): return seed\ndef check_implementation(data, output): return f'seed is {data}'\n")
	python.Sources["submission.py"] = []byte("def custom_kernel(data): return data\n")
	secret := uint64(100) // 5 + (5 + 100) * (5 + 100 + 1) / 2 = 5570
	for _, tt := range []struct {
		seed *uint64
		want string
	}{{nil, "seed is 5"}, {&secret, "seed is 5570"}} {
		r := buildAndRun(t, python, StageRequest{Mode: "test", Cases: cases("seed: 5"), Seed: tt.seed})
		if len(r.cases) != 1 || r.cases[0].Message != tt.want {
			t.Errorf("got %+v, want %q\n%s", r.cases, tt.want, r.outcome.Stderr)
		}
	}
}

// A test shows a case's own input; a score comes from inputs that nobody has seen.
func TestScoresComeFromFreshSeeds(t *testing.T) {
	j := cppJob(t, "correct.cpp")
	j.Sources["task.h"] = []byte("#pragma once\n#include <array>\nusing input_t = long; using output_t = long;\nconstexpr std::array<const char*, 1> ArgumentNames = {\"seed\"};\n")
	j.Sources["reference.h"] = []byte("static input_t generate_input(int seed) { return seed; }\n" +
		"static void check_implementation(TestReporter& reporter, input_t data, output_t) { reporter.fail() << \"seed is \" << data; }\n")
	j.Sources["submission.cpp"] = []byte("#include \"task.h\"\noutput_t custom_kernel(input_t data) { return data; }\n")
	seeds := map[string]int{}
	for _, mode := range []string{"test", "leaderboard", "leaderboard"} {
		r := buildAndRun(t, j, StageRequest{Mode: mode, Cases: cases("seed: 5")})
		if len(r.cases) != 1 {
			t.Fatalf("%s: %+v\n%s", mode, r, r.outcome.Stderr)
		}
		seeds[r.cases[0].Message]++
	}
	if len(seeds) != 3 || seeds["seed is 5"] != 1 {
		t.Errorf("seeds were %v", seeds)
	}
}
