package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// precompiled is what the kernels of an evaluation were compiled to before their run.
type precompiled struct {
	key      toolchain.RecallKey // its key in the cache; zero if it is not cached
	compiled map[string]string   // by the kernel's label; nil: the run on the slot compiles
	known    bool                // an earlier evaluation left it
	took     time.Duration       // what the caller is charged for it
}

// precompile finds the compiled form of the same caller's same kernels, or compiles them in a sidecar runner while another
// job holds the slot. There is none if the run on the slot has to compile: because the slot is free, no Python waits,
// or the kernels do not compile, which that run explains better. A slot that becomes free during this waits for the
// compiler, as it would for one that ran on it.
func (e *Evaluation) precompile(ctx context.Context) (precompiled, error) {
	if !e.Slot.IsGPU() {
		return precompiled{}, nil
	}
	// For the caller alone: user code shares the processes that hand an archive over.
	found := precompiled{key: toolchain.RecallKey{Owner: e.Job.Caller, Arch: e.Slot.Arch, Text: kernelsText(e.request)}}
	// What cannot be read is compiled again.
	if json.Unmarshal(e.builder.Recall(found.key), &found.compiled) == nil && found.compiled != nil {
		found.known = true
		return found, nil
	}
	if !compilesAlone(e.request) || !e.Pool.AllBusy(e.Slot.Device) {
		return found, nil
	}
	program, _ := e.Slot.Sidecar.Next(e.Job.Caller, e.artifact)
	if program == nil {
		program = e.builder.OpenReady(e.artifact, e.Pool.SidecarPlace(e.Slot))
	}
	if program == nil {
		return found, nil
	}
	e.begin(kernelrun.StageCompiling)
	var err error
	found.compiled, found.took, err = e.compileIn(ctx, program, time.Duration(e.request.Timeout)*time.Second/2)
	if found.compiled != nil {
		e.builder.Remember(jsonOf(found.compiled), found.key)
	}
	return found, err
}

// compileIn returns an error only when the sidecar's place must not be used again. What did not compile is not charged:
// whether it was tried before must not decide whether the time limit is kept.
func (e *Evaluation) compileIn(ctx context.Context, program toolchain.Program, limit time.Duration) (compiled map[string]string, took time.Duration, err error) {
	compiled = map[string]string{}
	clean := true
	for _, label := range labels(e.request) {
		if !clean || !compilesBefore(e.request, label) {
			continue
		}
		report := newReader(func(string) {})
		out, err := program.RunStage(ctx, toolchain.StageRequest{Mode: ModeCompile, Timeout: limit - took, OnPipe: report.read,
			Processes: []toolchain.Process{e.process(ModeCompile, label)}, Alone: true})
		if errors.Is(err, sandbox.ErrStuck) {
			return nil, 0, err
		}
		if err != nil {
			e.Log.Warn("kernel not compiled before its run", "evaluation", e.Job.EvaluationID, "kernel", label, "err", err)
		}
		took += out.Wall
		clean = err == nil && out.ExitCode == 0 && out.Limit == "" && !out.Cancelled
		if text := report.compiled[label]; text != "" { // the kernel's own process said it, and may say more
			compiled[label] = text
		}
	}
	e.Result.ProgramNS += took.Nanoseconds()
	e.Slot.Sidecar.Keep(e.Job.Caller, program, nil, clean)
	if !clean || len(compiled) == 0 {
		return nil, 0, nil
	}
	return compiled, took, nil
}
