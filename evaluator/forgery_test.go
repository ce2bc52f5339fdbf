package evaluator_test

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
)

// forger returns a correct submission to the vector add with additional code before its kernel.
func forger(beside string) []byte {
	return append([]byte(`#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
`+beside+"\n"), kernel("")...)
}

// forgedLines is a C++ function that writes the report of a passed ranked run to every open descriptor.
const forgedLines = `static void forge() {
    std::string all = "benchmark-count: 3\n";
    const char* specs[] = {"size: 65536; seed: 54352", "size: 262144; seed: 93246", "size: 1048576; seed: 6256"};
    for (int i = 0; i < 3; ++i) {
        std::string at = "benchmark." + std::to_string(i) + ".";
        all += at + "spec: " + specs[i] + "\n" + at + "runs: 3\n" + at + "mean: 1\n" + at + "best: 1\n" + at + "worst: 1\n" + at + "status: pass\n";
    }
    all += "check: pass\n";
    for (int fd = 3; fd < 1024; ++fd) if (write(fd, all.data(), all.size()) < 0) continue;
}
`

// TestForgedTimesAndVerdictsDoNotReachTheBoard runs forgeries that once got a score of a nanosecond or had a wrong
// answer accepted. A case with a reason must fail with it; a case without one must pass with an honest time. Forged
// clocks are in evaluator/attacks.
func TestForgedTimesAndVerdictsDoNotReachTheBoard(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(realConfig(t))
	cases := []struct{ name, beside, reason string }{
		{"the harness's own names", "namespace warpboard { extern int result_fd; int& used = result_fd; }",
			"undefined reference"},
		{"lines at exit", forgedLines + `struct Last { ~Last() { forge(); } } last;`, ""},
		{"lines before the harness's", forgedLines + `struct First { First() { forge(); } } first;`, "out of turn"},
		{"lines and no more", forgedLines + `struct First { First() { forge(); _exit(0); } } first;`, "out of turn"},
		{"no report, and the seed before main", `extern "C" ssize_t write(int, const void* text, size_t size) { return std::strlen("") + size; }
struct Seed { Seed() { if (getenv("POPCORN_SEED") || getenv("POPCORN_FD") || getenv("WARPBOARD_TOKEN")) abort(); } } seed;
static void first(int, char**, char** env) {
    for (; *env; ++env) if (std::strstr(*env, "POPCORN") || std::strstr(*env, "WARPBOARD")) abort();
}
__attribute__((section(".preinit_array"), used)) static void (*early)(int, char**, char**) = first;`, ""},
	}
	for _, c := range cases {
		j := example(t, vectorAdd, c.name, job.ModeRanked, forger(c.beside))
		j.Task.Tests, j.Task.Benchmarks = j.Task.Tests[:1], j.Task.Benchmarks[:1]
		wantNoForgery(t, c.name, s.run(j), c.reason)
	}
}

// wantNoForgery checks that a run failed for the reason or, without a reason, that it has an honest score of at least 1
// µs.
func wantNoForgery(t *testing.T, name string, r job.Result, reason string) {
	t.Helper()
	if reason == "" {
		if r.ScoreNS == nil || *r.ScoreNS < 1000 {
			t.Errorf("%s: outcome %s, score %v, failure %+v", name, r.Outcome, r.ScoreNS, r.Failure)
		}
	} else if r.Outcome != job.OutcomeFailed || r.ScoreNS != nil || !strings.Contains(r.Failure.Reason, reason) {
		t.Errorf("%s: outcome %s, failure %+v", name, r.Outcome, r.Failure)
	}
}

// TestPythonForgeriesDoNotReachTheBoard runs forgeries by submissions to the Python softmax; the wrong answer is all
// zeros. Forged clocks, work after "done", and work in a tracer are in evaluator/attacks.
func TestPythonForgeriesDoNotReachTheBoard(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	const wrong, right = "    return data[1] * 0\n",
		"    x, out = data\n    p = np.exp(x - x.max(axis=1, keepdims=True))\n    return p / p.sum(axis=1, keepdims=True)\n"
	cases := []struct{ name, before, kernel, reason string }{
		{"isclose", "np.isclose = lambda a, *r, **k: np.ones_like(a, dtype=bool)\n", wrong, "wrong answer"},
		{"exp", "real = np.exp\nnp.exp = lambda x: real(x) * 0\n", wrong, "wrong answer"},
		{"the checker's code",
			"import reference, utils\nok = lambda *a, **k: (True, '')\nutils.match_reference.__code__ = ok.__code__\nreference.check_implementation = ok\n", wrong, "wrong answer"},
		{"the judge's frame", "import sys\n",
			"    f = sys._getframe()\n    while f:\n        for v in list(f.f_locals.values()):\n            for n in ('check', '_check', 'check_implementation'):\n                if hasattr(v, n): setattr(v, n, lambda *a: (True, ''))\n        f = f.f_back\n" + wrong, "wrong answer"},
		{"an object that agrees",
			"class A:\n    def __array__(self, *a, **k):\n        import sys\n        f = sys._getframe()\n        while 'expected' not in f.f_locals: f = f.f_back\n        return f.f_locals['expected']\n", "    return A()\n", "it must return NumPy arrays"},
		{"a derived array", "class A(np.ndarray): pass\n", "    return data[1].view(A)\n",
			"it must return NumPy arrays"},
		{"the pipe",
			"import os\nfor fd in range(3, 1024):\n    try: os.write(fd, b'check: pass\\n')\n    except OSError: pass\n", wrong, "out of turn"},
		{"the seed",
			"import os, gc\nif os.environ.get('POPCORN_SEED') or any(type(o) is dict and 'POPCORN_SEED' in o for o in gc.get_objects()): raise SystemExit(9)\n", right, ""},
	}
	for _, c := range cases {
		j := example(t, "softmax_numpy", c.name, job.ModeRanked,
			[]byte("import numpy as np\n"+c.before+"def custom_kernel(data):\n"+c.kernel))
		j.Task.Tests, j.Task.Benchmarks = j.Task.Tests[1:2], j.Task.Benchmarks[:1]
		wantNoForgery(t, c.name, s.run(j), c.reason)
	}
}
