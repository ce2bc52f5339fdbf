package toolchain

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// productRunner is a fake compiler: every command succeeds and produces an object, but a command for PTX fails if ptx
// is empty.
type productRunner struct {
	mu       sync.Mutex
	commands []string // the commands that compile to PTX
	ptx      string
}

func (r *productRunner) Run(_ context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files := map[string][]byte{}
	for name := range spec.CollectFiles {
		files[name] = []byte(name)
	}
	if i := slices.Index(spec.Argv, "-ptx"); i >= 0 {
		r.commands = append(r.commands, strings.Join(spec.Argv[i:], " "))
		if files["ptx"] = []byte(r.ptx); r.ptx == "" {
			return sandbox.Outcome{ExitCode: 1}, nil
		}
	}
	return sandbox.Outcome{Files: files}, nil
}

func TestOnlyAProfileIsCompiledToPTXAndOnce(t *testing.T) {
	runner := &productRunner{}
	b := NewBuilder(Config{Toolchain: Toolchain{NVCC: &Tool{Path: "/opt/cuda/bin/nvcc", Version: "13.0"}},
		Runner: runner, ObjectDir: t.TempDir()})
	j := job.Job{Task: tasks.Definition{Lang: tasks.LangCUDA,
		Files: []tasks.File{{Name: "submission.cu", Source: tasks.SubmissionSource}}},
		Sources: map[string][]byte{"submission.cu": []byte("__global__ void k() {}")}}
	for _, tt := range []struct {
		name     string
		mode     job.Mode
		ptx      string // the compiler's output; empty if it fails
		want     string
		commands int // PTX commands run so far
	}{
		{"ranked", job.ModeRanked, ".version 8.0", "", 0},
		{"a compiler that cannot", job.ModeProfile, "", "", 1},
		{"profile", job.ModeProfile, ".version 8.0", ".version 8.0", 2},
		{"profile again", job.ModeProfile, "", ".version 8.0", 2},
	} {
		j.Mode, runner.ptx = tt.mode, tt.ptx
		a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: Environment{Arch: "90"}})
		if err != nil || result.Status != job.StatusPass {
			t.Fatalf("%s: %+v, %v", tt.name, result, err)
		}
		if string(a.PTX) != tt.want || len(runner.commands) != tt.commands {
			t.Errorf("%s: PTX %q after %q", tt.name, a.PTX, runner.commands)
		}
	}
	if want := "-ptx submission.cu -o /out/ptx"; runner.commands[0] != want {
		t.Errorf("%s, want %s", runner.commands[0], want)
	}
}
