package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/harness/pairtest"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// legacyReference is a typical reference for KernelBot: it relies on the harness's includes, and on no other names.
const legacyReference = `#include <vector>
#define CUDA_CHECK(x) do { if ((x) != 0) std::abort(); } while (0)
template <class T> struct DeviceBuffer { T* data; };
struct Host {}; struct Gpu {}; struct Report {}; struct Stats {};
using input_t = std::vector<float>;
using output_t = std::vector<float>;
input_t generate_input() { return input_t(1000, 4.0f); }
output_t ref_kernel(input_t in) { for (float& x : in) x = 2 * x; return in; }
bool check_implementation(output_t custom, output_t ref) {
    std::cout << "comparing " << ref.size() << std::endl;
    return custom == ref;
}
`

// legacyJudge prepares the legacy format's judge with a reference. flags are the compiler flags for the language.
func legacyJudge(t *testing.T, lang tasks.Lang) (n native, flags []string) {
	t.Helper()
	n = native{t.TempDir()}
	writeAll(t, n.dir, Sources(tasks.ProtocolLegacy, lang))
	writeAll(t, n.dir, testdata(t, "gpu/cuda_runtime.h", "gpu/cuda.h"))
	writeAll(t, n.dir, map[string][]byte{"reference.cuh": []byte(legacyReference)})
	flags = []string{"-x", "c++"}
	if lang == tasks.LangCUDA {
		flags = append(flags, "-D__CUDACC__")
	}
	return n, flags
}

func writeAll(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func wantVerdict(t *testing.T, check string, report *Parser, stdout string) {
	t.Helper()
	if report.Verdict() != check {
		t.Fatalf("check %q, want %q; stdout %q", report.Verdict(), check, stdout)
	}
	if scored := strings.Contains(stdout, "score:"); scored != (check == "pass") {
		t.Errorf("stdout is %q", stdout)
	}
}

func TestLegacyFormatTakesWhatPeopleWrite(t *testing.T) {
	tier.Needs(t, tier.Judge)
	const answer = "for (float& x : in) x = 2 * x; return in; }\n"
	tests := map[string]struct {
		lang       tasks.Lang
		submission string
		check      string
	}{
		"by reference": {tasks.LangCPP, "output_t custom_kernel(input_t& in) { " + answer, "pass"},
		"by value, short macros": {tasks.LangCUDA,
			"#define N 1024\n#define T 16\n#define A 1\n#define B 2\noutput_t custom_kernel(input_t in) { " + answer,
			"pass"},
		// Both submissions are wrong. Their macros replace the checker or the reference, which must have no effect.
		"a checker of its own": {tasks.LangCUDA,
			"output_t custom_kernel(input_t in) { return in; }\n#define check_implementation(a, b) true\n", "fail"},
		"a reference of its own": {tasks.LangCPP,
			"output_t custom_kernel(input_t in) { return in; }\n#define ref_kernel(x) x\n", "fail"},
	}
	for _, lang := range []tasks.Lang{tasks.LangCPP, tasks.LangCUDA} {
		n, flags := legacyJudge(t, lang)
		programs := map[string][]string{"judge": append(slices.Clone(flags), "eval."+string(lang))}
		for name, test := range tests {
			if test.lang == lang {
				// Each submission is a file train.cuh in a separate folder, which the compiler searches first.
				dir := filepath.Join(n.dir, "of "+name)
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				writeAll(t, dir, map[string][]byte{"train.cuh": []byte(test.submission)})
				programs[name] = append(slices.Clone(flags), "-I"+dir, "warpboard_runner."+string(lang))
			}
		}
		n.buildAll(t, programs)
		for name, test := range tests {
			if test.lang == lang {
				t.Run(name, func(t *testing.T) {
					r := pairtest.Run(t, n.program("judge"), n.program(name), "leaderboard", "")
					wantVerdict(t, test.check, parseReport(r.Report), r.Stdout)
				})
			}
		}
	}
}
