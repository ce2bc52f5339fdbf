package evaluator_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// kernel returns a correct submission to the vector add. Each call first executes the code in before.
func kernel(before string) []byte {
	return []byte(`#include <cstdio>
#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include "task.h"
output_t custom_kernel(input_t data) {
    ` + before + `
    for (std::size_t i = 0; i < data.out.size(); ++i) data.out[i] = data.a[i] + data.b[i];
    return std::move(data.out);
}
`)
}

// left returns the status of each process that has one of the tests' user IDs.
func left(t *testing.T) []string {
	t.Helper()
	status, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range status {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		for slot := range 8 {
			if strings.Contains(string(text), fmt.Sprintf("\nUid:\t%d\t", firstUID+slot)) {
				out = append(out, string(text))
			}
		}
	}
	return out
}

func TestMisbehavingKernelFailsWithItsReason(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(realConfig(t))
	cases := []struct {
		name, before string
		status       job.Status
		reason       string
	}{
		{"segfault", `*(volatile int*)8 = 1;`, job.StatusError, "SIGSEGV"},
		{"segfault later", `if (data.a.size() == 128) *(volatile int*)8 = 1;`, job.StatusError,
			"in case 2 (size: 128; seed: 1001)"},
		{"abort", `abort();`, job.StatusError, "SIGABRT"},
		{"exit", `exit(0);`, job.StatusError, "without a verdict"},
		{"endless", `for (volatile int i = 0;; ++i) {}`, job.StatusTimeout, "time limit"},
		{"endless sleep", `for (;;) pause();`, job.StatusTimeout, "time limit"},
		{"one endless line on stderr",
			`static char x[1 << 16]; for (char& c : x) c = 'x'; for (;;) fwrite(x, 1, sizeof x, stderr);`,
			job.StatusLimitExceeded, "output"},
		{"stack without end",
			`struct f { static int g(volatile char* p) { volatile char big[65536]; big[0] = *p; return g(big) + big[1]; } }; char c = 0; exit(f::g(&c));`, job.StatusError, "SIGSEGV"},
		{"signals its sandbox",
			`for (int pid = 1; pid < 100; ++pid) if (pid != getpid()) { kill(pid, SIGKILL); kill(pid, SIGSTOP); } abort();`, job.StatusError, "SIGABRT"},
		// Usually SIGABRT, but SIGKILL if the kernel first checks the limit of 0 s of CPU time.
		{"cuts its own limits",
			`struct rlimit none = {0, 0}; for (int i = 0; i < 16; ++i) setrlimit(i, &none); abort();`, job.StatusError,
			"killed by SIG"},
		{"closed descriptors", `for (int fd = 0; fd < 100; ++fd) close(fd);`, "", ""},
	}
	for _, c := range cases {
		j := example(t, vectorAdd, c.name, job.ModeTest, kernel(c.before))
		if c.status == job.StatusTimeout || c.status == "" { // other cases keep the long limit, for a busy machine
			j.Task.Timeouts.Test = 2 * time.Second
		}
		r := s.run(j)
		if c.status == "" { // any end of the run is correct
			continue
		}
		wantStages(t, r, "build pass", "test "+string(c.status))
		if r.Outcome != job.OutcomeFailed || r.Failure == nil || r.Failure.IsInfrastructureError ||
			!strings.Contains(r.Failure.Reason, c.reason) {
			t.Errorf("%s: outcome %s, failure %+v", c.name, r.Outcome, r.Failure)
		}
		if n := len(r.Stages[1].Stdout) + len(r.Stages[1].Stderr); n > 1<<20 {
			t.Errorf("%s: %d bytes of output were kept", c.name, n)
		}
	}
	if r := s.run(example(t, vectorAdd, "next", job.ModeTest,
		solution(t, vectorAdd, true))); r.Outcome != job.OutcomePassed {
		t.Errorf("the next run: outcome %s, failure %+v", r.Outcome, r.Failure)
	}
	if processes := left(t); len(processes) > 0 {
		t.Errorf("%d processes are left:\n%s", len(processes), processes[0])
	}
}

func TestACompilerThatNeedsTooMuchMemoryReportsIt(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(realConfigWith(t, func(r toolchain.ProcessRunner) toolchain.ProcessRunner { return lessMemory{r, new(atomic.Bool)} }))
	r := s.run(example(t, vectorAdd, "endless", job.ModeTest,
		append([]byte("#include \"/dev/zero\"\n"), kernel("")...)))
	wantStages(t, r, "build limit")
	if r.Outcome != job.OutcomeFailed || r.Failure.IsInfrastructureError || !strings.Contains(r.Failure.Reason, "memory") {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
}

// pyKernel returns a correct submission to the softmax. Its first call also executes the code in before.
func pyKernel(before string) []byte {
	return []byte(`import os, shutil, signal, sys, time
import numpy as np

def once():
    ` + before + `

def custom_kernel(data):
    global once
    harm, once = once, lambda: None
    harm()
    x, out = data
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    out[:] = powers / powers.sum(axis=1, keepdims=True)
    return out
`)
}

// TestPythonKernelThatAttacksItsRunner runs kernels that signal the warm process of which the stages are forks, or
// damage its directories. Only the kernel's own run may fail, and not with an infrastructure error.
func TestPythonKernelThatAttacksItsRunner(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s := newSite(t)
	s.start(realConfig(t))
	cases := []struct {
		name, before string
		reason       string // expected in the failure's text; empty if the run passes
	}{
		{"kills its runner", `os.kill(os.getppid(), signal.SIGKILL)`, "SIGKILL"},
		{"stops its runner", `os.kill(os.getppid(), signal.SIGSTOP)`, "time limit"},
		{"kills everyone", `os.kill(-1, signal.SIGKILL)`, "SIGKILL"},
		{"kills init", `os.kill(1, signal.SIGKILL)`, ""},
		{"reads other processes", `os.listdir("/proc")`, "No such file"},
		{"ends as if all were well", `os._exit(0)`, "without a verdict"},
		{"never returns from recursion", `sys.setrecursionlimit(10**9); (f := lambda: f())()`, "in case 0"},
		{"leaves what cannot be removed", `os.makedirs("/tmp/job/a/b", exist_ok=True); os.chmod("/tmp/job/a", 0)`, ""},
		{"puts a link in place of the job",
			`os.chdir("/"); shutil.rmtree("/tmp/job"); os.symlink("/dev/shm", "/tmp/job")`, ""},
		{"puts a link in place of the cache",
			`os.path.islink("/tmp/cache") or (shutil.rmtree("/tmp/cache"), os.symlink("/out", "/tmp/cache"))`, ""},
		{"leaves a daemon that spoils the next stage", `if os.fork() == 0:
        os.setsid()
        while True:
            try: open("/tmp/job/submission.py", "w").write("raise Exception")
            except OSError: pass`, ""},
		{"closes every descriptor", `os.closerange(0, 4096)`, "without a verdict"},
	}
	for _, c := range cases {
		j := example(t, "softmax_numpy", c.name, job.ModeRanked, pyKernel(c.before))
		j.Task.Tests, j.Task.Benchmarks = j.Task.Tests[:1], j.Task.Benchmarks[:1]
		if c.reason == "time limit" || c.reason == "in case 0" { // other cases keep the long limit, for a busy machine
			j.Task.Timeouts.Test = 2 * time.Second
		}
		r := s.run(j)
		output := ""
		if r.Failure != nil {
			output = r.Failure.Reason + r.Stages[len(r.Stages)-1].Stderr
		}
		if failed := c.reason != ""; failed != (r.Outcome == job.OutcomeFailed) ||
			!strings.Contains(output, c.reason) || r.Failure != nil && r.Failure.IsInfrastructureError {
			t.Errorf("%s: outcome %s, failure %+v, it said %q", c.name, r.Outcome, r.Failure, output)
		}
		if processes := left(t); len(processes) > 0 {
			t.Errorf("%s: %d processes are left:\n%s", c.name, len(processes), processes[0])
		}
	}
}

func TestCancelKillsTheRealProgramInAnyStage(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	slow := kernel("usleep(100000); /* " + rand.Text() + " */") // random text prevents a cached build
	for _, stage := range []job.Stage{job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked} {
		id := "cancelled in " + string(stage)
		j := example(t, vectorAdd, id, modeWith(string(stage)), slow)
		j.Task.Tests, j.Task.Benchmarks = j.Task.Tests[:2], j.Task.Benchmarks[:1]
		s.publish(j)
		s.wait("begin of the stage "+string(stage), func() bool {
			return slices.ContainsFunc(s.events, func(e job.Event) bool {
				return e.AttemptID == id && e.Type == job.EventStageStarted && e.Stage == stage
			})
		})
		s.cancel(id)
		r := s.result(id)
		if last := r.Stages[len(r.Stages)-1]; r.Outcome != job.OutcomeCancelled || last.Stage != stage ||
			last.Status != job.StatusCancelled {
			t.Errorf("outcome %s, stages %q", r.Outcome, stageNames(r))
		}
		if processes := left(t); len(processes) > 0 {
			t.Errorf("%s: %d processes are left:\n%s", id, len(processes), processes[0])
		}
	}
}

func TestStoppedWorkerLeavesNoProcessAndHandsTheRunBack(t *testing.T) {
	s := newSite(t)
	cfg := realConfig(t)
	cfg.StopTimeout = 50 * time.Millisecond
	w := s.start(cfg)
	s.publish(example(t, vectorAdd, "a1", job.ModeTest, kernel(`if (access("/tmp/never", F_OK) != 0) sleep(20);`)))
	s.wait("begin of the test", func() bool {
		return slices.ContainsFunc(s.events,
			func(e job.Event) bool { return e.Type == job.EventStageStarted && e.Stage == job.StageTest })
	})
	w.stop()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if processes := left(t); len(processes) > 0 {
		t.Errorf("%d processes are left:\n%s", len(processes), processes[0])
	}
	if r := s.result("a1"); r.Outcome != job.OutcomeHandedBack || r.CausedByJob {
		t.Errorf("outcome %s by %q", r.Outcome, r.Machine.Worker)
	}
}
