package toolchain

import (
	"context"
	"strings"
	"sync"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// spyRunner records the commands of a real sandbox.
type spyRunner struct {
	ProcessRunner
	mu   sync.Mutex
	seen []sandbox.Spec
}

func (r *spyRunner) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	r.mu.Lock()
	r.seen = append(r.seen, spec)
	r.mu.Unlock()
	return r.ProcessRunner.Run(ctx, spec)
}

func (r *spyRunner) specs() []sandbox.Spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// fakeCompiler returns some output for every command at once, for tests of what is compiled, and when.
type fakeCompiler struct{}

func (fakeCompiler) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	made := map[string][]byte{}
	for name := range spec.CollectFiles {
		made[name] = []byte("made by " + strings.Join(spec.Argv, " "))
	}
	return sandbox.Outcome{Files: made}, ctx.Err()
}

// legacyJob returns a task of the legacy format without its reference.
func legacyJob(lang tasks.Lang, name string, submission []byte) job.Job {
	j := job.Job{
		Task: tasks.Definition{
			Protocol: tasks.ProtocolLegacy, Lang: lang, RankingBy: tasks.RankLastCase,
			Files: []tasks.File{{Name: name, Source: tasks.SubmissionSource}},
		},
		Sources: map[string][]byte{name: submission},
	}
	if lang == tasks.LangCPP {
		j.Task.Config.CompileFlags = []string{"-O0"} // quick compilation, as in cppJob
	}
	return j
}
