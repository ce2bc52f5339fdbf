package evaluator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
)

// kernel is a right submission to the vector add that does something before it adds.
func kernel(before string) []byte {
	return []byte(`#include <cstdio>
#include <cstdlib>
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

// left lists the processes that still run as one of the tests' users.
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
			continue // it has ended meanwhile
		}
		for slot := range 8 {
			if strings.Contains(string(text), fmt.Sprintf("\nUid:\t%d\t", firstUID+slot)) {
				out = append(out, string(text))
			}
		}
	}
	return out
}

func TestKernelThatMisbehavesFailsWithItsReasonAndTheNextRunIsFine(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	cases := []struct {
		name, before string
		status       job.Status
		reason       string
	}{
		{"segfault", `*(volatile int*)8 = 1;`, job.StatusError, "SIGSEGV"},
		{"segfault later", `if (data.a.size() == 128) *(volatile int*)8 = 1;`, job.StatusError, "in case 2 (size: 128; seed: 1001)"},
		{"abort", `abort();`, job.StatusError, "SIGABRT"},
		{"exit", `exit(0);`, job.StatusError, "without a verdict"},
		{"endless", `for (volatile int i = 0;; ++i) {}`, job.StatusTimeout, "time limit"},
		{"endless sleep", `for (;;) pause();`, job.StatusTimeout, "time limit"},
		{"1 GB of output", `for (int i = 0; i < 1 << 20; ++i) { char line[1024] = {}; fwrite(line, 1, sizeof line, stdout); }`, job.StatusLimit, "output"},
		{"one endless line on stderr", `for (;;) fputs("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", stderr);`, job.StatusLimit, "output"},
		{"fork", `for (;;) fork();`, "", ""},
		{"daemon", `if (fork() == 0) { setsid(); for (;;) pause(); }`, "", ""},
		{"closed descriptors", `for (int fd = 0; fd < 100; ++fd) close(fd);`, "", ""},
	}
	for _, c := range cases {
		j := example(t, vectorAdd, c.name, job.ModeTest, kernel(c.before))
		j.Task.Timeouts.Test = 2 * time.Second
		r := s.run(j)
		if c.status == "" { // how it ends is its own affair, as long as it ends
			continue
		}
		wantStages(t, r, "build pass", "test "+string(c.status))
		if r.Outcome != job.OutcomeFailed || r.Failure == nil || r.Failure.Ours || !strings.Contains(r.Failure.Reason, c.reason) {
			t.Errorf("%s: outcome %s, failure %+v", c.name, r.Outcome, r.Failure)
		}
		if n := len(r.Stages[1].Stdout) + len(r.Stages[1].Stderr); n > 1<<20 {
			t.Errorf("%s: %d bytes of output were kept", c.name, n)
		}
	}
	if r := s.run(example(t, vectorAdd, "next", job.ModeTest, solution(t, vectorAdd, true))); r.Outcome != job.OutcomeDone {
		t.Errorf("the next run: outcome %s, failure %+v", r.Outcome, r.Failure)
	}
	if processes := left(t); len(processes) > 0 {
		t.Errorf("%d processes are left:\n%s", len(processes), processes[0])
	}
}

func TestCancelKillsTheRealProgramInAnyStage(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	slow := kernel("usleep(100000);")
	for _, stage := range []job.Stage{job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked} {
		id := "cancelled in " + string(stage)
		j := example(t, vectorAdd, id, job.ModeRanked, slow)
		j.Task.Tests, j.Task.Benchmarks = j.Task.Tests[:2], j.Task.Benchmarks[:1]
		s.publish(j)
		s.wait("begin of the stage "+string(stage), func() bool {
			return slices.ContainsFunc(s.events, func(e job.Event) bool {
				return e.AttemptID == id && e.Type == job.EventStage && e.Stage == stage
			})
		})
		s.cancel(id)
		r := s.result(id)
		if last := r.Stages[len(r.Stages)-1]; r.Outcome != job.OutcomeCancelled || last.Stage != stage || last.Status != job.StatusCancelled {
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
	cfg.Grace = 50 * time.Millisecond
	w := s.start(cfg)
	s.publish(example(t, vectorAdd, "a1", job.ModeTest, kernel(`if (access("/tmp/never", F_OK) != 0) sleep(20);`)))
	s.wait("begin of the test", func() bool {
		return slices.ContainsFunc(s.events, func(e job.Event) bool { return e.Type == job.EventStage && e.Stage == job.StageTest })
	})
	w.stop()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if processes := left(t); len(processes) > 0 {
		t.Errorf("%d processes are left:\n%s", len(processes), processes[0])
	}
	s.start(evaluator.Config{Name: "w2"})
	if r := s.result("a1"); r.Machine.Worker != "w2" || r.Outcome != job.OutcomeDone {
		t.Errorf("outcome %s by %q", r.Outcome, r.Machine.Worker)
	}
}
