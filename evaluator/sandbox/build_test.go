package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
)

// TestCompilerIsHeldBackFromWhatSourcesName compiles sources that include or embed files of the machine, or that
// compile for long: a compiler is as untrusted as its source.
func TestCompilerIsHeldBackFromWhatSourcesName(t *testing.T) {
	tier.Needs(t, tier.Judge)
	sb := newSandbox(t)
	tests := map[string]struct {
		source string
		stderr string // expected in the compiler's output
		limits string // limits, separated by commas, of which the run may exceed one; empty: none
	}{
		"includes /etc/passwd":       {"#include \"/etc/passwd\"\n", "No such file", ""},
		"includes /etc/shadow":       {"#include \"/etc/shadow\"\n", "No such file", ""},
		"includes its own arguments": {"#include \"/proc/self/environ\"\n", "No such file", ""},
		"embeds /etc/passwd":         {"asm(\".incbin \\\"/etc/passwd\\\"\");\n", "file not found", ""},
		"includes /dev/zero":         {"#include \"/dev/zero\"\n", "", "wall,memory,cpu"},
		"embeds /dev/zero":           {"asm(\".incbin \\\"/dev/zero\\\"\");\n", "", "wall,memory,cpu,file size"},
		"includes /dev/urandom":      {"#include \"/dev/urandom\"\n", "", "wall,memory,cpu"},
		"includes itself twice":      {"#include __FILE__\n#include __FILE__\n", "", "output,wall,memory,cpu"},
		"brackets without end":       {"int x = " + strings.Repeat("(", 1<<20) + "\n", "", "wall,memory,cpu"},
		"includes /dev/stdin":        {"#include \"/dev/stdin\"\n", "", ""},
		"giant object": {"char a[1ul << 36] = {1}; int main() { return a[0]; }\n", "",
			"file size,memory,wall,cpu"},
		"macro bomb": {macroBomb(), "", "wall,memory,cpu"},
		"template bomb": {"template<int n> struct A { typedef typename A<n + 1>::T T; }; A<0>::T x;\n",
			"depth", ""},
		"constexpr without end": {"constexpr long f(long n) { while (true) n++; return n; } static_assert(f(0));\n",
			"loop", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := sandbox.Spec{
				Argv:         []string{"/usr/bin/g++", "-o", "/out/program", "/in/program.cpp"},
				Files:        map[string][]byte{"program.cpp": []byte(test.source)},
				Limits:       sandbox.DefaultBuildLimits(),
				CollectFiles: map[string]int64{"program": 16 << 20},
			}
			spec.Limits.Memory, spec.Limits.FileSize = 256<<20, 32<<20
			if test.limits != "" {
				spec.Limits.WallTime, spec.Limits.CPU = 2*time.Second, 2*time.Second
			}
			o := run(t, sb, spec)
			if o.ExitCode == 0 || o.Files["program"] != nil {
				t.Errorf("it was compiled: %s", o.Stderr)
			}
			if !strings.Contains(o.Stderr, test.stderr) || strings.Contains(o.Stderr, "root:") {
				t.Errorf("the compiler said %s", o.Stderr)
			}
			if test.limits == "" && o.ExceededLimit != "" ||
				test.limits != "" && !strings.Contains(test.limits, o.ExceededLimit) {
				t.Errorf("limit %q, want one of %q: %s", o.ExceededLimit, test.limits, o.Stderr)
			}
			assertUnharmed(t, sb, 0)
		})
	}
}

func macroBomb() string {
	var b strings.Builder
	b.WriteString("#define A0 x+x+x+x+x+x+x+x+\n")
	last := "A0"
	for _, next := range []string{"A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8"} {
		b.WriteString("#define " + next + strings.Repeat(" "+last, 8) + "\n")
		last = next
	}
	return b.String() + "int x; int main() { return A8 0; }\n"
}
