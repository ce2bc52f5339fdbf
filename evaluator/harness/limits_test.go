package harness

import (
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

// sharedWords maps Python expressions, for constants of the protocol and exit codes, to the C++ expressions that must
// have the same values.
var sharedWords = map[string]string{
	"warpboard_wire.DOOR_FD": "door_fd", "warpboard_wire.CHANNEL_FD": "channel_fd", "warpboard_wire.PAGE_FD": "page_fd",
	"warpboard_wire.READY": "FRAME_READY", "warpboard_wire.CASE": "FRAME_CASE", "warpboard_wire.CALL": "FRAME_CALL",
	"warpboard_wire.END": "FRAME_END", "warpboard_wire.INPUT": "FRAME_INPUT", "warpboard_wire.RANGE": "CALL_RANGE",
	"warpboard_wire.HOST": "REGION_HOST", "warpboard_wire.CUDA": "REGION_DEVICE",
	"warpboard_wire.INPUTS": "REGION_INPUTS", "warpboard_wire.ANSWERS": "REGION_ANSWERS",
	"warpboard_wire.SEALED":    "REGION_SEALED",
	"warpboard_wire.ANSWER_AT": "sizeof(Page)", "4 * warpboard_wire._RELEASE": "offsetof(Page, release)",
	"4 * warpboard_wire._QUEUED": "offsetof(Page, queued)",
	"4 * warpboard_wire._DONE":   "offsetof(Page, done)", "4 * warpboard_wire._SIZE": "offsetof(Page, size)",
	"4 * warpboard_wire._SOON": "offsetof(Page, soon)", "4 * warpboard_wire._SEALED": "offsetof(Page, sealed)",
	"warpboard_wire._NS_AT":             "offsetof(Page, ns)",
	"warpboard_report.EXIT_USAGE":       "ExitCodes::EXIT_USAGE",
	"warpboard_report.EXIT_NO_PIPE":     "ExitCodes::EXIT_PIPE_FAILED",
	"warpboard_report.EXIT_FAILED":      "ExitCodes::EXIT_VALIDATE_FAIL",
	"warpboard_report.EXIT_BAD_SPEC":    "ExitCodes::EXIT_TEST_SPEC",
	"warpboard_report.EXIT_RUNNER_GONE": "ExitCodes::EXIT_RUNNER_GONE",
	"warpboard_report.EXIT_REFUSED":     "ExitCodes::EXIT_REFUSED",
	"warpboard_report.EXIT_TASK":        "ExitCodes::EXIT_TASK_FAILED",
}

var constant = regexp.MustCompile(`(?m)^([A-Z][A-Z_, ]+) = `)
var constantName = regexp.MustCompile(`[A-Z_]+`)

// TestCppAndPythonHaveTheSameLimits compares the values in warpboard_limits.py with those in warpboard_limits.h, and
// the constants of the protocol.
func TestCppAndPythonHaveTheSameLimits(t *testing.T) {
	n := newNative(t, Sources(tasks.ProtocolEval, tasks.LangPython))
	pairs := maps.Clone(sharedWords)
	limits := string(Sources(tasks.ProtocolEval, tasks.LangPython)["warpboard_limits.py"])
	for _, line := range constant.FindAllStringSubmatch(limits, -1) {
		for _, name := range constantName.FindAllString(line[1], -1) {
			pairs["warpboard_limits."+name] = strings.ToLower(name)
		}
	}
	var printed, evaluated strings.Builder
	for _, python := range slices.Sorted(maps.Keys(pairs)) {
		fmt.Fprintf(&printed, "    std::printf(\"%s = %%.17g\\n\", static_cast<double>(%s));\n", python, pairs[python])
		fmt.Fprintf(&evaluated, "print('%s = %%.17g' %% (%s))\n", python, python)
	}
	writeAll(t, n.dir, map[string][]byte{
		"limits.cpp": []byte("#include \"warpboard_door.h\"\n#include \"warpboard_exit.h\"\n#include \"warpboard_runner.h\"\n" +
			"int main() {\n    using namespace warpboard;\n" + printed.String() + "}\n"),
		"limits.py": []byte("import warpboard_limits, warpboard_report, warpboard_wire\n" + evaluated.String() +
			"print(sum(name.isupper() for name in vars(warpboard_limits)))\n"), // to check that no name was missed
	})
	cpp, err := exec.CommandContext(t.Context(), n.build(t, "limits", "-O0", "limits.cpp")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, cpp)
	}
	python := exec.CommandContext(t.Context(), debianPython, "-B", "limits.py")
	python.Dir = n.dir
	out, err := python.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprintf("%s%d\n", cpp, len(pairs)-len(sharedWords))
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("C++ and Python differ (-C++ +Python):\n%s", diff)
	}
}
