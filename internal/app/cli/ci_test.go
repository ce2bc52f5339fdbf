package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
)

// repository is a git repository with kernels and a site that reads a score from each kernel's text: the kernel "100"
// gets a score of 100 ns with an interval of 95 to 105 ns.
type repository struct {
	*world
	t    *testing.T
	dir  string
	mode job.Mode // expected mode of submissions
	sent int      // number of submissions
}

func newKernelRepository(t *testing.T) *repository {
	r := &repository{world: newWorld(t), t: t, dir: t.TempDir(), mode: job.ModeRanked}
	r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var in client.NewSubmission
		if err := json.NewDecoder(q.Body).Decode(&in); err != nil || in.Task != "sum" || in.Mode != r.mode {
			t.Errorf("%s %s: %+v, %v", q.Method, q.URL, in, err)
		}
		r.sent++
		sub := client.Submission{ID: int64(r.sent), Task: in.Task, URL: "http://site/submissions/1", Ended: true}
		run := client.Run{Device: "CPU", State: "failed", Failure: &job.Failure{Reason: "wrong | <b>\n::error::forged"}}
		var score float64
		if n, _ := fmt.Sscan(cmp.Or(in.Files["tile.h"], in.Source), &score); n == 1 {
			low, high := score*0.95, score*1.05
			run = client.Run{Device: "CPU", State: "done", ScoreNS: &score,
				Interval: client.Interval{IntervalLow: &low, IntervalHigh: &high}}
		}
		sub.Runs = []client.Run{run}
		json.NewEncoder(w).Encode(sub)
	})
	r.git("init", "-q")
	text := ""
	for _, name := range []string{"same", "equal", "faster", "slower", "wrong"} {
		text += fmt.Sprintf("[[kernel]]\nfile = %q\ntask = \"sum\"\n", name+".cpp")
		r.write(name+".cpp", "100")
	}
	text += "[[kernel]]\nfile = \"header.cpp\"\ntask = \"sum\"\nfiles = [\"tile.h\"]\n"
	r.write("header.cpp", "a kernel")
	r.write("tile.h", "100")
	r.write(projectFile, text)
	r.git("add", ".")
	r.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base")
	return r
}

func (r *repository) git(args ...string) {
	r.t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", r.dir}, args...)...).CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func TestCIComparesWhatChangedWithItsBaseAndExitsByPolicy(t *testing.T) {
	r := newKernelRepository(t)
	r.write("equal.cpp", "104")
	r.write("faster.cpp", "80")
	r.write("tile.h", "80")
	ci := func(want int, flags ...string) string {
		t.Helper()
		err := r.run(t, append([]string{"ci", r.dir, "--server", r.URL, "--base", "HEAD"}, flags...)...)
		if got := console.ExitCode(err); got != want {
			t.Errorf("%v: exit code %d, want %d: %v\n%s", flags, got, want, err, &r.out)
		}
		return r.out.String()
	}
	output := ci(0)
	for _, row := range []string{
		"| same.cpp | sum |  | unchanged |  |  |  |",
		"| equal.cpp | sum | CPU | [passed](http://site/submissions/1) | 100.0 ns | 104.0 ns | the same |",
		"| faster.cpp | sum | CPU | [passed](http://site/submissions/1) | 100.0 ns | 80.00 ns | faster, 1.25× |",
		"| header.cpp | sum | CPU | [passed](http://site/submissions/1) | 100.0 ns | 80.00 ns | faster, 1.25× |",
	} {
		if !strings.Contains(output, row) {
			t.Errorf("%q is missing in\n%s", row, output)
		}
	}
	r.write("slower.cpp", "140")
	ci(console.ExitFailed)
	ci(0, "--fail-on", "failure")
	r.write("wrong.cpp", "not a number")
	ci(console.ExitFailed, "--fail-on", "failure")
	ci(0, "--fail-on", "never")
	ci(console.ExitUsage, "--fail-on", "sometimes")
	ci(console.ExitUsage, "--base", "--output=x")

	r.vars["GITHUB_ACTIONS"], r.vars["GITHUB_STEP_SUMMARY"] = "true", filepath.Join(t.TempDir(), "summary.md")
	output = ci(console.ExitFailed)
	summary, err := os.ReadFile(r.vars["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(string(summary), `wrong \| &lt;b>`) {
		t.Errorf("%v\n%s", err, summary)
	}
	before := len(summary)
	if err := json.Unmarshal([]byte(ci(console.ExitFailed, "--json")), &[]ciResult{}); err != nil {
		t.Errorf("--json: %v", err)
	}
	if summary, _ := os.ReadFile(r.vars["GITHUB_STEP_SUMMARY"]); len(summary) != 2*before {
		t.Errorf("with --json the summary has %d bytes more, want %d", len(summary)-before, before)
	}
	if want := "::warning file=slower.cpp::CPU: slower, 100.0 ns → 140.0 ns\n::error file=wrong.cpp::CPU: wrong | <b>%0A::error::forged\n"; output != want {
		t.Errorf("annotations:\n%s\nwant\n%s", output, want)
	}
}

func TestCIInTestModeRunsNoBase(t *testing.T) {
	r := newKernelRepository(t)
	r.mode = job.ModeTest
	r.write("faster.cpp", "80")
	if err := r.run(t, "ci", r.dir, "--server", r.URL, "--base", "HEAD", "--mode", "test"); err != nil || r.sent != 1 {
		t.Errorf("%v, after %d submissions for one kernel that has changed", err, r.sent)
	}
}

func TestCIRunsNoReferenceThatHasNotChanged(t *testing.T) {
	w := newWorld(t)
	asked := w.evaluating(t)
	r := &repository{world: w, t: t, dir: t.TempDir()}
	kernels(t, r.dir)
	r.git("init", "-q")
	r.write(projectFile, "devices = [\"cpu\"]\n[[kernel]]\nfile = \"right.py\"\nreference = \"broken.py\"\n")
	r.git("add", ".")
	r.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "base")
	ci := func() string {
		t.Helper()
		*asked = nil
		if err := w.run(t, "ci", r.dir, "--server", w.URL, "--base", "HEAD"); err != nil {
			t.Fatal(err)
		}
		return w.out.String()
	}
	if output := ci(); *asked != nil || !strings.Contains(output, "| right.py | broken.py |  | unchanged |") {
		t.Errorf("nothing has changed, and it asked for %v:\n%s", *asked, output)
	}
	r.write("broken.py", "another reference")
	want := "| right.py | broken.py | CPU | [passed](" + w.URL +
		"/evaluations/e1) |  | 500.0 µs | 2.50× as fast as the reference |"
	if output := ci(); (*asked)["gpu_type"] != "cpu" || !strings.Contains(output, want) {
		t.Errorf("the reference has changed, and it asked for %v:\n%s", *asked, output)
	}
}
