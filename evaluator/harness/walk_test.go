package harness

import (
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

func TestEveryTypeOfATaskGoesThroughSharedMemory(t *testing.T) {
	tier.Needs(t, tier.Judge)
	n := newNative(t, testdata(t, "walk/walk.cpp"))
	program := n.build(t, "walk", "-O2", "-Wall", "walk.cpp")
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRandomNumbersAreThoseOfACipherUnderTheCallsKey(t *testing.T) {
	n := newNative(t, testdata(t, "walk/random.cpp"))
	if out, err := exec.Command(n.build(t, "random", "random.cpp")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTheLargestClockCounts(t *testing.T) {
	n := newNative(t, testdata(t, "walk/clocks.cpp"))
	if out, err := exec.Command(n.build(t, "clocks", "clocks.cpp")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A larger input takes longer to write, and that time does not count for the kernel, which takes 50 µs. Each pair has
// the time to write an input, in µs, and its size, in MB. The first pair belongs to the judge's own runner.
func TestAnInputMayTakeLongerToWriteOnlyIfItIsLarger(t *testing.T) {
	n := newNative(t, Sources(tasks.ProtocolEval, tasks.LangPython))
	writeAll(t, n.dir, testdata(t, "walk/writing.cpp"))
	cpp := n.build(t, "writing", "writing.cpp")
	for name, tt := range map[string]struct{ pairs, clock, median string }{
		"larger in most calls":  {"30 1  30 1  130 50  130 50", "event", "50000"},
		"smaller in most calls": {"130 50  130 50  30 1  30 1", "event", "50000"},
		"larger than nothing":   {"30 0  30 0  130 50  130 50", "event", "50000"},
		"disturbed":             {"30 1  330 1", "wall", "348500"},
		"smaller and disturbed": {"130 50  330 1", "wall", "248500"},
		// One undisturbed call shows how long a large input takes.
		"larger, mostly disturbed": {"30 1  130 50  430 50  430 50  430 50", "wall", "321100"},
		// Without one, a byte may take as long as on a slow device, and as in calls of the judge's own runner.
		"larger, always disturbed":         {"30 1  630 50", "wall", "158500"},
		"twice as large, always disturbed": {"130 50  630 100", "wall", "418500"},
	} {
		given := strings.Fields(tt.pairs)
		for language, program := range map[string]*exec.Cmd{
			"C++": exec.Command(cpp, given...),
			"Python": exec.Command(debianPython,
				append([]string{"-B", filepath.Join("testdata", "py", "writing.py"), n.dir}, given...)...),
		} {
			program.Env = []string{"POPCORN_FD=1"}
			out, err := program.CombinedOutput()
			clock, median := field(string(out), "clock"), field(string(out), "median")
			if err != nil || clock != tt.clock || median != tt.median {
				t.Errorf("%s: %s says %s and %s, want %s and %s: %v", name, language, clock, median, tt.clock,
					tt.median, err)
			}
		}
	}
}

// The first line of the compiler's output, which the author of a task sees, must have the hint.
func TestATypeThatCannotBeHandedOverSaysWhatToWrite(t *testing.T) {
	tier.Needs(t, tier.Judge)
	n := newNative(t, nil)
	for name, tt := range map[string]struct{ declaration, want string }{
		"pointer": {"struct input_t { float* data; int size; };",
			"Write std::vector<T> for memory of the host or DeviceBuffer<T>"},
		"view": {"#include <string_view>\nstruct input_t { std::string_view text; };",
			"may not hold pointers, spans or views"},
		"nested": {"struct Inner { int n; const char* name; }; struct input_t { std::vector<Inner> all; };",
			"may not hold pointers"},
		"bits":  {"struct input_t { std::vector<bool> mask; };", "write std::vector<uint8_t>"},
		"const": {"struct input_t { const int size; std::vector<float> a; };", "Leave out the const"},
		"map": {"#include <map>\nstruct input_t { std::map<int, int> counts; };",
			"auto members(Type& value) { return std::tie(value.first, value.second); }"},
		"pointer owner": {"#include <memory>\nstruct input_t { std::unique_ptr<int> one; };", "cannot be handed"},
	} {
		t.Run(name, func(t *testing.T) {
			writeAll(t, n.dir, map[string][]byte{"refused.cpp": []byte("#include \"warpboard_input.h\"\n" +
				tt.declaration +
				"\nvoid lay(input_t& input) { warpboard::InputLayout layout(input, true); }\n")})
			_, printed, err := n.compile("refused", "-fsyntax-only", "refused.cpp")
			first := ""
			for line := range strings.Lines(printed) {
				if strings.Contains(line, "error:") {
					first = line
					break
				}
			}
			if err == nil || !strings.Contains(first, "static assertion failed") || !strings.Contains(first, tt.want) {
				t.Errorf("%v\n%s", err, printed)
			}
		})
	}
}

// TestErrorsAgainstAReferenceInDoublePrecision: in ULPs of the answer's type, in C++ and in Python.
func TestErrorsAgainstAReferenceInDoublePrecision(t *testing.T) {
	tier.Needs(t, tier.Judge)
	native := newNative(t, testdata(t, "walk/numerics.cpp"))
	cpp := exec.Command(native.build(t, "numerics", "-O1", "-Wall", "numerics.cpp"))
	python := exec.CommandContext(t.Context(), debianPython, "-B", "-W", "error",
		filepath.Join("testdata", "py", "numerics.py"))
	for program, want := range map[*exec.Cmd][]*job.NumericError{
		cpp: {
			{Elements: 6, NonFinite: 1, WorstPosition: "[5]", Got: "inf", Want: "3"},
			{Elements: 2, WorstPosition: "[0]", Got: "1", Want: "1.00048828125", RelativeMax: math.Ldexp(1, -11),
				RelativeP99: math.Ldexp(1, -11), ULPMax: 0.5, ULPP99: 0.5},
			{Elements: 1, WorstPosition: "[0]", Got: "1", Want: "1.00390625", RelativeMax: 1.0 / 257,
				RelativeP99: 1.0 / 257,
				ULPMax:      0.5, ULPP99: 0.5},
			{Elements: 3, WorstPosition: "[1]", Got: "2", Want: "2.0000001192092896", RelativeMax: math.Ldexp(1, -24),
				RelativeP99: math.Ldexp(1, -24), ULPMax: 0.5, ULPP99: 0.5},
			{Elements: 2, WorstPosition: "[1]", Got: "1", Want: "1.0000001192092896", RelativeMax: math.Ldexp(1, -23),
				RelativeP99: math.Ldexp(1, -23), ULPMax: 1, ULPP99: 1},
			{Note: "reference_fp64 gives 1 floating-point numbers where the answer has 2."},
		},
		python: {
			{Elements: 6, NonFinite: 1, WorstPosition: "[5]", Got: "inf", Want: "3"},
			{Elements: 200, WorstPosition: "[1, 99]", Got: "1.5", Want: "1", RelativeMax: 0.5,
				ULPMax: math.Ldexp(1, 22)},
			{Elements: 2, WorstPosition: "[0]", Got: "1", Want: "1.00048828125", RelativeMax: math.Ldexp(1, -11),
				RelativeP99: math.Ldexp(1, -11), ULPMax: 0.5, ULPP99: 0.5},
			{Elements: 3, WorstPosition: "[1]['y'][0]", Got: "2", Want: "2.0000001192092896",
				RelativeMax: math.Ldexp(1, -24),
				RelativeP99: math.Ldexp(1, -24), ULPMax: 0.5, ULPP99: 0.5},
			{Elements: 2, WorstPosition: "[0, 1]", Got: "1", Want: "1.0000001192092896",
				RelativeMax: math.Ldexp(1, -23),
				RelativeP99: math.Ldexp(1, -23), ULPMax: 1, ULPP99: 1},
			{Elements: 1, WorstPosition: "", Got: "0", Want: "1.1754943508222875e-38", RelativeMax: 1, RelativeP99: 1,
				ULPMax: 1 << 23, ULPP99: 1 << 23},
			{Note: "reference_fp64 must give float64, and gives float32."},
			{Note: "reference_fp64 gives the shape (2,) where the answer has (3,)."},
			{Note: "reference_fp64 must give 2 values, as the answer has."},
			{Elements: 3, WorstPosition: "[0, 0]", Got: "1", Want: "1.00390625", RelativeMax: 1.0 / 257,
				RelativeP99: 1.0 / 257,
				ULPMax:      0.5, ULPP99: 0.5},
			{Elements: 3, WorstPosition: "[1][0]", Got: "1", Want: "1.0000001192092896",
				RelativeMax: math.Ldexp(1, -23),
				RelativeP99: math.Ldexp(1, -23), ULPMax: 1, ULPP99: 1},
			{Elements: 2, WorstPosition: "[0, 1]", Got: "1", Want: "1.0000001192092896",
				RelativeMax: math.Ldexp(1, -23),
				RelativeP99: math.Ldexp(1, -23), ULPMax: 1, ULPP99: 1},
		},
	} {
		program.Env = []string{"POPCORN_FD=1"}
		out, err := program.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
		}
		var got []*job.NumericError
		for _, c := range parseReport(string(out)).Cases() {
			got = append(got, c.NumericError)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-3, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", program.Path, diff)
		}
	}
}
