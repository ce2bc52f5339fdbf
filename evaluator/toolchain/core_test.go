package toolchain

import (
	"slices"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// TestTheCoreIsCompiledOnceAndLoadsInTheSandbox loads the judge's core in a sandbox without a GPU. It must not need a
// CUDA driver until it uses a device.
func TestTheCoreIsCompiledOnceAndLoadsInTheSandbox(t *testing.T) {
	b, spy := newSpiedBuilder(t)
	j := pyJob(t, "correct.py")
	j.Sources["submission.py"] = append([]byte("import warpboard_core\n"+
		"assert b'warpboard_open_gate' in warpboard_core.library().warpboard_gate_ptx()\n"), j.Sources["submission.py"]...)
	place := cpu()
	place.Arch = "90"
	for range 2 {
		a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: place})
		if err != nil || result.Status != job.StatusPass {
			t.Fatalf("%v %v", result, err)
		}
		p := mustOpen(t, b, a)
		defer p.Close()
		r := runStage(t, p, StageRequest{Mode: "test", Cases: j.Task.Tests}, len(j.Task.Tests))
		if r.status != job.StatusPass {
			t.Errorf("got %s (%s)\n%s", r.status, r.failure.Reason, r.outcome.Stderr)
		}
	}
	compiled := slices.DeleteFunc(spy.specs(), func(spec sandbox.Spec) bool { return !slices.Contains(spec.Argv, "warpboard_core.cpp") })
	if len(compiled) != 1 {
		t.Errorf("the core was compiled %d times", len(compiled))
	}
}
