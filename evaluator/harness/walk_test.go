package harness

import (
	"os/exec"
	"strings"
	"testing"
)

func TestEveryTypeOfATaskGoesThroughSharedMemory(t *testing.T) {
	n := newNative(t, testdata(t, "walk/walk.cpp"))
	program := n.build(t, "walk", "-O2", "-Wall", "walk.cpp")
	if out, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The compiler's first line is what the author of a task is shown.
func TestATypeThatCannotBeHandedOverSaysWhatToWrite(t *testing.T) {
	n := newNative(t, nil)
	for name, tt := range map[string]struct{ declaration, want string }{
		"pointer":       {"struct input_t { float* data; int size; };", "Write std::vector<T> for memory of the host or DeviceBuffer<T>"},
		"view":          {"#include <string_view>\nstruct input_t { std::string_view text; };", "may not hold pointers, spans or views"},
		"nested":        {"struct Inner { int n; const char* name; }; struct input_t { std::vector<Inner> all; };", "may not hold pointers"},
		"bits":          {"struct input_t { std::vector<bool> mask; };", "write std::vector<uint8_t>"},
		"const":         {"struct input_t { const int size; std::vector<float> a; };", "Leave out the const"},
		"map":           {"#include <map>\nstruct input_t { std::map<int, int> counts; };", "auto members(Type& value) { return std::tie(value.first, value.second); }"},
		"pointer owner": {"#include <memory>\nstruct input_t { std::unique_ptr<int> one; };", "cannot be handed"},
	} {
		t.Run(name, func(t *testing.T) {
			writeAll(t, n.dir, map[string][]byte{"refused.cpp": []byte("#include \"warpboard_input.h\"\n" + tt.declaration +
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
