package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// newCore returns a folder with the judge of Python tasks and its core, a folder with a driver of the fake device, and
// a C++ runner. Limits of 10 s are reduced to 3 s.
func newCore(t *testing.T) (programs, driver, runner string) {
	t.Helper()
	core, fake := native{t.TempDir()}, newFakeGPU(t)
	sources := CoreSources()
	limits := sources["warpboard_limits.h"]
	for _, name := range []string{"after_done_limit_ns", "call_limit_ns"} {
		long, short := []byte(name+" = 10e9"), []byte(name+" = 3e9")
		if !bytes.Contains(limits, long) {
			t.Fatalf("warpboard_limits.h lacks %q", long)
		}
		limits = bytes.ReplaceAll(limits, long, short)
	}
	sources["warpboard_limits.h"] = limits
	writeAll(t, core.dir, sources)
	writeAll(t, core.dir, Sources(tasks.ProtocolEval, tasks.LangPython))
	writeAll(t, core.dir, testdata(t, "core/conformance.py", "core/follower.py", "core/torch.py"))
	writeAll(t, fake.dir, testdata(t, "gpu/driver.cpp"))
	flags := strings.Fields(gpuFlags)
	core.buildAll(t, map[string][]string{"libwarpboard_core.so": {"-fPIC", "-shared", "warpboard_core.cpp", "-ldl"}})
	fake.buildAll(t, map[string][]string{
		"libcuda.so.1": slices.Concat(flags, []string{"-fPIC", "-shared", "driver.cpp"}),
		"runner.o":     slices.Concat(flags, []string{"-c", "warpboard_runner.cu"}),
	})
	runner = fake.build(t, "runner", "-D__CUDACC__", "-DWARPBOARD_SUBMISSION", "runner.o", "submissions.cpp")
	return core.dir, fake.dir, runner
}

// TestCallsByTheJudgesCore makes calls as judges of Python tasks and of evaluations do. Each case is a judge with its
// own runners. Runners exit with 0, and the judge ends, only when no queued work on their devices waits any longer.
func TestCallsByTheJudgesCore(t *testing.T) {
	tier.Needs(t, tier.Judge)
	programs, driver, runner := newCore(t)
	const (
		queued, byDone = `[true, "when queued"]`, `[true, "by done"]`
		known          = `{"right": true, "at once": true, "begins after all is queued": true, "waits": [true, true], ` +
			`"kept behind its input": true}`
		new = `{"right": true, "at once": false, "begins after all is queued": false, "waits": [false, false], ` +
			`"kept behind its input": true}`
		cpp = `{"calls": [[true, false, true], [true, false, true], [true, false, true]], "runner": [0]}`
	)
	failed := func(kind, text string, exit int) string {
		return fmt.Sprintf(`{"error": [%q, %q], "runner": [%d]}`, kind, text, exit)
	}
	other := failed("Refused", "The submission's process answered call 77 when call 1 was under way.", 0)
	for name, want := range map[string]string{
		"queued in time": `{"right": true, "late": false, "at once": [false, true, true, true], "in order": true, ` +
			`"clock": true, "parts": 2, "sizes": [4136], "runner": [0]}`,
		"sealed until the release": `{"right": true, "small is hidden": true, "bytes after its last word": true, ` +
			`"pieces are missing": true, "runner": [0]}`,
		"C++ in place":   cpp,
		"C++ own answer": cpp,
		"C++ late":       strings.ReplaceAll(cpp, "false", "true"),

		// The runner describes its answer after "done". If the judge has predicted the description, it has already
		// copied the answer, and the time to describe it does not count as the kernel's.
		"queued late": `{"calls": [` + strings.Join([]string{queued, byDone, byDone, queued, byDone}, ", ") +
			`], "runner": [0]}`,
		"never queued": failed("Refused",
			"The submission's process said that a call had ended, and 3 s later not that it was queued.", 0),

		// An idle device that has its input could run a kernel unseen by any clock. If a device cannot wait, because
		// kernels are loaded for new sizes, the judge keeps each device busy right after writing its input.
		"two ranks": `{"known": ` + known + `, "new to one": ` + new + `, "new to the other": ` + new +
			`, "runners": [0, 0]}`,
		// Two kernels are called alternately with different sizes. Treating the sizes as new in each call would look
		// like a device that another program uses.
		"two kernels in turns": `{"at once": [false, false, true, true], "runner": [0]}`,
		"warm caches":          `{"flushed": 0, "woken": true, "runner": [0]}`,
		"cold caches":          `{"flushed": 1, "woken": true, "runner": [0]}`,

		"cannot queue":            `{"error": ["RuntimeError", true], "left": [true], "runners": [0]}`,
		"cannot queue one of two": `{"error": ["RuntimeError", true], "left": [true, true], "runners": [0, 0]}`,
		"one of two fails": `{"error": ["Refused", "rank 1: The submission's process said that a call had ended before ` +
			`its input was there."], "runners": [0, 0]}`,

		"one of two not asked": `{"left": [1, 0], "runners": [0, 0]}`,

		"never ended": `{"seen": ["not shown", "shown"], "runner": [0]}`,
		// The abandoned call still runs when the judge starts the next one.
		"growing":                   `{"right": true, "calls": [1, 2], "runner": [0]}`,
		"growing beside a slow one": `{"right": true, "runners": [0, 0]}`,
		"raising":                   `{"error": ["BadAnswer", "custom_kernel has no answer"], "next": true, "runner": [0]}`,

		"changing": failed("BadAnswer",
			"The answer still changed when custom_kernel was said to be done: something of it ran on.", 0),
		"done before the release": failed("Refused",
			"The submission's process said that a call had ended before its input was there.", 0),
		// A sample before the release is refused: the answer could still change before the end of the call.
		"sampled before the release": failed("Refused",
			"The submission's process said that a call had ended before its input was there.", 0),
		"queued another call": other,
		"another call done":   other,
		"dying":               failed("RunnerGone", "", 3),
		"dying later":         failed("RunnerGone", "", 3),
		"never done":          failed("Refused", "A call had not ended after 3 s", 0),
		"talking":             failed("Refused", "The submission's process wrote to the judge out of turn.", 0),
		"babbling": failed("Refused",
			"The runner described its answer in a way that cannot be: unknown kind of description.", 0),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
			defer cancel()
			cmd := exec.CommandContext(ctx, debianPython, "-B", filepath.Join(programs, "conformance.py"), programs,
				t.TempDir(), name, runner)
			cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+driver)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if diff := cmp.Diff(want, strings.TrimSpace(string(out))); err != nil || diff != "" {
				t.Errorf("%v, want -, is +:\n%s\n%s", err, diff, stderr.String())
			}
		})
	}
}
