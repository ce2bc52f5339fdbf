package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
)

// killUID is the first of a range of UIDs for these tests: other packages' tests run at the same time.
const killUID = 62100

// killStates are the states of a stage in which one of its processes is killed. In each, a function of the task or the
// submission prints "here" and waits.
var killStates = []struct{ name, mode, generate, load, kernel string }{
	{"before the submission is loaded", "test", "", "here()", ""},
	{"in a call", "test", "", "", "here()"},
	{"between two calls", "test", "count == 2 and here()", "", ""},
	{"while the clocks' constants are measured", "benchmark", "calibrating() and here()", "", ""},
	{"while the clocks' constants are measured, until our runner ends", "benchmark",
		"calibrating() and here(lambda: os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT))", "", ""},
}

const killReference = `
import os, sys, time
import numpy as np
count = 0
def here(wait=lambda: time.sleep(100)):
    os.write(3, b"here: 1\n")
    wait()
def calibrating():
    frame, names = sys._getframe(), set()  # the input of the empty calls is drawn for no call of the submission
    while frame: names, frame = names | {frame.f_code.co_name}, frame.f_back
    return "measure_all" in names and "measure" not in names
def generate_input(seed):
    global count
    count += 1
    GENERATE
    return np.full(4, seed)
def check_implementation(data, output):
    return bool((data == output).all()), ""
`

const killSubmission = `
import time
def here():
    print("here", flush=True)
    time.sleep(100)
LOAD
def custom_kernel(data):
    KERNEL
    return data
`

func TestAStageEndsOnceAfterAnyKill(t *testing.T) {
	tier.Needs(t, tier.Judge)
	const outside, signal, own = "The judge's process was killed from outside", "SIGKILL", "the judge's own runner"
	tests := []struct {
		state  int
		victim string // the process to kill; empty: the stage is cancelled instead
		status job.Status
		reason string
		ours   bool
	}{
		{0, "judge's stage", job.StatusError, outside, true},
		{0, "runner's stage", job.StatusError, signal, false},
		{0, "", job.StatusCancelled, "cancelled", false},
		{1, "judge's zygote", job.StatusError, outside, true},
		{1, "runner's stage", job.StatusError, signal, false},
		{1, "runner's zygote", job.StatusError, signal, false},
		{1, "", job.StatusCancelled, "cancelled", false},
		{2, "judge's zygote", job.StatusError, outside, true},
		{2, "runner's zygote", job.StatusError, signal, false},
		{3, "judge's stage", job.StatusError, outside, true},
		{4, "judge's calibrator", job.StatusError, own, false},
	}
	b := NewBuilder(Config{Toolchain: tools(), Runner: sandbox.New(sandbox.Config{BuildNice: 1, FirstUID: killUID}),
		ObjectDir: cacheDir})
	for _, tt := range tests {
		state := killStates[tt.state]
		t.Run(state.name+"/"+tt.victim, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var struck time.Time
			strike := func() {
				if struck = time.Now(); tt.victim == "" {
					cancel()
				} else if pid := victim(t, tt.victim); pid == 0 { // kill(2) with 0 would kill this process group
					cancel()
				} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			status, failure := runStruck(ctx, t, b, state.mode, killSources(state.generate, state.load, state.kernel),
				strike)
			if status != tt.status || failure == nil || !strings.Contains(failure.Reason, tt.reason) ||
				failure.IsInfrastructureError != tt.ours {
				t.Errorf("got %s, %+v; want %s, ...%s..., ours %v", status, failure, tt.status, tt.reason, tt.ours)
			}
			if took := time.Since(struck); took > 40*time.Second { // the stage's time limit is 60 s
				t.Errorf("the stage ended %v later", took)
			}
			for _, uid := range []int{killUID, killUID + 8} {
				if left := pythons(t, uid); len(left) > 0 {
					t.Errorf("processes of uid %d are left: %v", uid, left)
				}
			}
		})
	}
}

func killSources(generate, load, kernel string) map[string][]byte {
	or := func(text string) string {
		return strings.NewReplacer("GENERATE", generate, "LOAD", load, "KERNEL", kernel).Replace(text)
	}
	if generate == "" {
		generate = "pass"
	}
	if kernel == "" {
		kernel = "pass"
	}
	return map[string][]byte{"reference.py": []byte(or(killReference)), "submission.py": []byte(or(killSubmission))}
}

// runStruck runs a stage to its end, and calls strike when it prints "here".
func runStruck(ctx context.Context, t *testing.T, b *Builder, mode string, sources map[string][]byte,
	strike func()) (job.Status, *job.Failure) {
	t.Helper()
	j := pyJob(t, "correct.py")
	j.Sources, j.Task.Tests = sources, cases("seed: 1", "seed: 2")
	a, _ := mustBuild(t, b, j)
	p := mustOpen(t, b, a)
	defer p.Close()
	parser, here := harness.NewParser(nil), make(chan struct{}, 8)
	see := func(text []byte) {
		if strings.Contains(string(text), "here") {
			here <- struct{}{}
		}
	}
	ended := make(chan struct{})
	struck := make(chan struct{})
	go func() {
		defer close(struck)
		select {
		case <-here:
			strike()
		case <-ended:
			t.Error("the stage ended before it was there")
		}
	}()
	req := StageRequest{Mode: mode, Cases: j.Task.Tests, Timeout: time.Minute, OnStdout: see,
		OnResultPipe: func(text []byte) { parser.Write(text); see(text) }}
	end, err := p.RunStage(ctx, req)
	close(ended)
	<-struck
	if err != nil {
		t.Fatal(err)
	}
	parser.Close()
	return harness.StageVerdict(end, req.Timeout, parser, req.Cases)
}

// victim returns the process of a name, or 0. A process that was just forked may be missing from one reading of /proc.
func victim(t *testing.T, name string) int {
	uid := killUID
	if strings.HasPrefix(name, "judge's") {
		uid += 8
	}
	var all map[int]int
	depth := func(pid int) (n int) {
		for ; all[pid] != 0; pid = all[pid] {
			n++
		}
		return n
	}
	want := map[string]int{"zygote": 1, "stage": 2, "calibrator": 3}[name[strings.IndexByte(name, ' ')+1:]]
	for limit := time.Now().Add(tier.Patience()); time.Now().Before(limit); {
		all = pythons(t, uid)
		for pid := range all {
			if depth(pid) == want {
				return pid
			}
		}
	}
	t.Errorf("there is no %s among %v", name, all)
	return 0
}

// pythons returns the living Pythons of a UID, each with its parent.
func pythons(t *testing.T, uid int) map[int]int {
	t.Helper()
	found := map[int]int{}
	paths, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		values := map[string]string{}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			values[name] = strings.TrimSpace(value)
		}
		var pid, parent, real int
		fmt.Sscan(values["Pid"], &pid)
		fmt.Sscan(values["PPid"], &parent)
		fmt.Sscan(values["Uid"], &real)
		if real == uid && strings.HasPrefix(values["Name"], "python") && !strings.HasPrefix(values["State"], "Z") {
			found[pid] = parent
		}
	}
	return found
}
