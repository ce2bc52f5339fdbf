package toolchain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// keepWarm keeps a runner ready until the end of the test.
func keepWarm(t *testing.T, b *Builder) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); b.KeepWarm(ctx, cpu(), 1) }()
	t.Cleanup(func() { cancel(); <-done })
	for !b.warmPythons.IsKeepingPythons(0) {
		select {
		case <-done:
			t.Fatal("KeepWarm ended")
		default:
		}
	}
}

func TestPythonVerdicts(t *testing.T) {
	pass, fail := job.StatusPass, job.StatusFail
	tests := []struct {
		submission string
		mode       string
		status     job.Status
		cases      []job.Status
		reason     string
	}{
		{"correct.py", "test", pass, []job.Status{pass, pass}, ""},
		{"correct.py", "benchmark", pass, []job.Status{pass, pass}, ""},
		{"correct.py", "leaderboard", pass, []job.Status{pass, pass}, ""},
		{"correct.py", "profile", pass, []job.Status{pass, pass}, ""},
		{"wrong.py", "test", fail, []job.Status{pass, fail}, "mismatch found!"},
		{"wrong.py", "leaderboard", fail, []job.Status{pass, fail}, "Number of mismatched elements"},
		{"raises.py", "test", job.StatusError, []job.Status{job.StatusError},
			"exit code 1 in case 0 (seed: 1; size: 100; kind: up): it ended with an exception"},
	}
	b := newBuilder()
	keepWarm(t, b)
	for _, tt := range tests {
		t.Run(tt.submission+"/"+tt.mode, func(t *testing.T) {
			j := pyJob(t, tt.submission)
			a, _ := mustBuild(t, b, j)
			p := mustOpen(t, b, a)
			defer p.Close()
			secret := uint64(77)
			r := runStage(t, p, StageRequest{Mode: tt.mode, Cases: j.Task.Tests, Seed: &secret}, len(j.Task.Tests))
			if r.status != tt.status || !strings.Contains(r.failure.Reason, tt.reason) {
				t.Errorf("got %s, %q; want %s, ...%s...\n%s", r.status, r.failure.Reason, tt.status, tt.reason,
					r.outcome.Stderr)
			}
			if diff := cmp.Diff(tt.cases, statuses(r)); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
			if !p.IsWarm() {
				t.Error("no warm runner was used")
			}
		})
	}
}

func TestATracebackBeginsInTheSubmission(t *testing.T) {
	b := newBuilder()
	j := pyJob(t, "raises.py")
	j.Sources["submission.py"] = []byte(
		"def helper():\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n        raise ValueError('chained') from error\n\n\ndef custom_kernel(data):\n    helper()\n")
	a, _ := mustBuild(t, b, j)
	r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test", Cases: j.Task.Tests}, len(j.Task.Tests))
	want := []string{`"/tmp/job/submission.py", line 3, in helper`,
		`"/tmp/job/submission.py", line 9, in custom_kernel`, `"/tmp/job/submission.py", line 5, in helper`}
	if diff := cmp.Diff(want, framesIn(r.outcome.Stderr)); diff != "" {
		t.Errorf("%s\n%s", diff, r.outcome.Stderr)
	}
}

func TestATracebackOfABundlesProgramBeginsInIt(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle("def main():\n    raise KeyError('own program')\n\n\nmain()\n"))
	r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test"}, 0)
	want := []string{`"/tmp/job/eval.py", line 5, in <module>`, `"/tmp/job/eval.py", line 2, in main`}
	if diff := cmp.Diff(want, framesIn(r.outcome.Stderr)); diff != "" {
		t.Errorf("%s\n%s", diff, r.outcome.Stderr)
	}
}

// framesIn returns the file, line, and function of each frame in a traceback.
func framesIn(stderr string) (files []string) {
	for line := range strings.Lines(stderr) {
		if file, ok := strings.CutPrefix(strings.TrimSpace(line), "File "); ok {
			files = append(files, file)
		}
	}
	return files
}

func TestSyntaxErrorIsABuildFailure(t *testing.T) {
	b := newBuilder()
	a, result, err := b.Build(t.Context(), BuildRequest{Job: pyJob(t, "broken.py"), Environment: cpu()})
	if err != nil || a != nil {
		t.Fatalf("got %v, %v", a, err)
	}
	if result.Status != job.StatusError || !strings.Contains(result.Failure.Reason, "IndentationError") ||
		!strings.Contains(result.Stderr, `File "submission.py", line 3`) {
		t.Errorf("got %s, %+v\n%s", result.Status, result.Failure, result.Stderr)
	}
}

// bundle returns the job of a Python task whose only file is its eval program.
func bundle(eval string) job.Job {
	return job.Job{
		Task: tasks.Definition{
			Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, HasOwnHarness: true, Config: tasks.BuildConfig{MainFile: "eval.py"},
			Files: []tasks.File{{Name: "eval.py", Source: "eval.py"},
				{Name: "submission.py", Source: tasks.SubmissionSource}},
		},
		Sources: map[string][]byte{"eval.py": []byte(eval), "submission.py": []byte("answer = 42\n")},
	}
}

// poolEval opens a spawn pool, whose worker imports the submission, returns an object of a class of the script, and
// tries forbidden acts.
const poolEval = `
import multiprocessing, os, sys
class Stats:
    def __init__(self, value, fd_error): self.value, self.fd_error = value, fd_error
def work(case):
    from submission import answer
    try:
        os.write(int(os.environ["POPCORN_FD"]), b"check: pass\n")
        error = ""
    except OSError as e:
        error = e.strerror
    return Stats(answer + case, error)
if __name__ == "__main__":
    fd = int(os.environ["POPCORN_FD"])
    os.set_inheritable(fd, False)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = [pool.apply(work, (i,)) for i in range(3)]
    good = all(isinstance(r, Stats) and r.value == 42 + i for i, r in enumerate(results))
    closed = all(r.fd_error == "Bad file descriptor" for r in results)
    with os.fdopen(fd, "w") as pipe:
        print(f"mode: {sys.argv[1]}\ncases: {open(sys.argv[2]).read()!r}\nclosed: {closed}", file=pipe)
        print("check:", "pass" if good and closed else "fail", file=pipe)
    sys.exit(0 if good else 112)
`

func TestSpawnPoolsWorkWarmAndCold(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(poolEval))
	req := StageRequest{Mode: "test", Cases: cases("size: 1")}
	p := mustOpen(t, b, a)
	for _, stage := range []string{"first stage", "second stage"} {
		if r := runStage(t, p, req, 0); r.status != job.StatusPass {
			t.Errorf("%s: %s, %s\n%s", stage, r.status, r.failure.Reason, r.outcome.Stderr)
		}
	}
	cold := coldProgram{p, b}
	if r := runStage(t, cold, req, 0); r.status != job.StatusPass {
		t.Errorf("cold: %s, %s\n%s", r.status, r.failure.Reason, r.outcome.Stderr)
	}
}

// coldProgram runs every stage in its own interpreter.
type coldProgram struct {
	Program
	builder *Builder
}

func (p coldProgram) RunStage(ctx context.Context, req StageRequest) (judge.StageEnding, error) {
	outcome, err := runWithResultPipe(ctx, p.builder.cfg.Runner, p.Program.(*pythonProgram).spec(req), req.OnResultPipe)
	return judge.StageEnding{Outcome: outcome}, err
}

// leavingEval leaves files and processes where it can, and reports those that it finds.
const leavingEval = `
import os, subprocess, sys, time
found = sorted(name for name in os.listdir(".") if name not in ("eval.py", "submission.py", "cases.txt"))
found += [name for name in os.listdir("/tmp") if name not in ("job", "cache")] + os.listdir("/dev/shm") + os.listdir("/out")
changed = open("submission.py").read() != "answer = 42\n"
for place in (".", "/tmp", "/dev/shm", "/out"):
    open(os.path.join(place, "left"), "w").close()
open("submission.py", "w").write("answer = 43\n")
others = 0
for pid in range(2, 400):
    try:
        os.kill(pid, 0)
        others += 1
    except OSError:
        pass
if os.fork() == 0:
    os.setsid()
    os.execvp("sleep", ["sleep", "1000"])
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
    print(f"found: {found} {changed}\nothers: {others}\ncheck: pass", file=pipe)
`

func TestNothingOfAStageReachesTheNext(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle(leavingEval))
	p := mustOpen(t, b, a)
	for stage := range 3 {
		var pipe strings.Builder
		out, err := p.RunStage(t.Context(),
			StageRequest{Mode: "test", Timeout: time.Minute, OnResultPipe: func(b []byte) { pipe.Write(b) }})
		if err != nil {
			t.Fatal(err)
		}
		// Besides bubblewrap's processes, there are two: the runner and the stage.
		if want := "found: [] False\nothers: 2\ncheck: pass\n"; pipe.String() != want {
			t.Errorf("stage %d: got %q, want %q\n%s", stage, pipe.String(), want, out.Stderr)
		}
	}
}

func TestPythonEndings(t *testing.T) {
	tier.Needs(t, tier.Judge)
	tests := []struct {
		name    string
		eval    string
		timeout time.Duration
		change  func(*Environment)
		status  job.Status
		reason  string
		stdout  string
	}{
		{"output is kept when time runs out", "print('begun')\nimport time\ntime.sleep(1000)", 5 * time.Second, nil,
			job.StatusTimeout, "time limit", "begun\n"},
		{"signal", "import os\nprint('so far', end='')\nimport sys; sys.stdout.flush()\nos.abort()", 0, nil,
			job.StatusError, "SIGABRT", "so far"},
		{"flood", "while True: print('x' * 10000)", 0, nil, job.StatusLimitExceeded, "output limit", ""},
		{"memory", "x = bytearray(2 << 30)\nx = [bytearray(b'1' * (1 << 30)) for _ in range(9)]", 0, nil,
			job.StatusLimitExceeded, "memory limit", ""},
		{"fork bomb", "import os\nwhile True: os.fork()", 0, nil, job.StatusLimitExceeded, "processes limit", ""},
		{"exit code", "import sys\nsys.exit(113)", 0, nil, job.StatusError, "exit code 113", ""},
		{"exit text", "import sys\nsys.exit('good bye')", 0, nil, job.StatusError, "exit code 1", ""},
		{"killed runner", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nimport time\ntime.sleep(100)", 0,
			nil, job.StatusError, "SIGKILL", ""},
	}
	b := newBuilder()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _ := mustBuild(t, b, bundle(tt.eval))
			r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test", Timeout: tt.timeout}, 0)
			if r.status != tt.status || !strings.Contains(r.failure.Reason, tt.reason) {
				t.Errorf("got %s, %q; want %s, ...%s...\n%s", r.status, r.failure.Reason, tt.status, tt.reason,
					r.outcome.Stderr)
			}
			if !strings.HasPrefix(r.outcome.Stdout, tt.stdout) {
				t.Errorf("stdout is %q, want %q first", r.outcome.Stdout, tt.stdout)
			}
		})
	}
}

func TestCancelEndsAStage(t *testing.T) {
	b := newBuilder()
	a, _ := mustBuild(t, b, bundle("print('begun')\nimport time\ntime.sleep(1000)"))
	p := mustOpen(t, b, a)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, err := p.RunStage(ctx, StageRequest{Mode: "test", OnStdout: func([]byte) { cancel() }})
	if err != nil || !out.Cancelled || !strings.HasPrefix(out.Stdout, "begun") {
		t.Errorf("got %+v, %v", out, err)
	}
	// The next runner is a fresh one, not the dead one.
	out, err = p.RunStage(t.Context(), StageRequest{Mode: "test", Timeout: time.Second})
	if err != nil || out.ExceededLimit != "wall" {
		t.Errorf("next stage: %+v, %v", out, err)
	}
}

func TestLegacyFormatInPython(t *testing.T) {
	j := legacyJob(tasks.LangPython, "train.py", read(t, "legacy/correct.py"))
	j.Sources["reference.py"] = read(t, "legacy/reference.py")
	r := buildAndRun(t, j, StageRequest{Mode: "leaderboard"})
	if r.status != job.StatusPass || len(r.cases) != 1 || r.cases[0].Runs < 3 {
		t.Errorf("got %s (%s), %+v, %q\n%s", r.status, r.failure.Reason, r.cases, r.outcome.Stdout, r.outcome.Stderr)
	}
}

func TestLegacyFormatInPythonKeepsItsChecker(t *testing.T) {
	b := newBuilder()
	const cheat = "import reference\nreference.check_implementation = lambda custom, ref: True\ndef custom_kernel(x): return x\n"
	for submission, status := range map[string]job.Status{"def custom_kernel(x): return 2 * x\n": job.StatusPass,
		cheat: job.StatusFail} {
		j := legacyJob(tasks.LangPython, "train.py", []byte(submission))
		j.Sources["reference.py"] = []byte(
			"def generate_input(): return 21\ndef ref_kernel(x): return 2 * x\ndef check_implementation(custom, ref): return custom == ref\n")
		a, _ := mustBuild(t, b, j)
		if r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test"}, 0); r.status != status {
			t.Errorf("got %s (%s), want %s", r.status, r.failure.Reason, status)
		}
	}
}
