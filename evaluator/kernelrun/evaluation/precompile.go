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

// precompiled has the kernels of an evaluation that were compiled before its run.
type precompiled struct {
	key      toolchain.RecallKey // cache key; zero if not cached
	compiled map[string]string   // by the kernel's label; nil if the run on the slot compiles
	wasKnown bool                // from an earlier evaluation
	duration time.Duration       // time charged to the caller
}

// precompile returns the caller's compiled kernels from the cache, or compiles them in a sidecar while another job holds
// the slot. It returns none if the run on the slot should compile them: because the slot is free, no Python is ready, or
// the kernels do not compile, which the run explains better. If the slot becomes free during the compilation, it waits
// for the compiler.
func (e *Evaluation) precompile(ctx context.Context) (precompiled, error) {
	if !e.Slot.IsGPU() {
		return precompiled{}, nil
	}
	// The key contains the caller, because the caller's code ran in the process that wrote the archive.
	found := precompiled{key: toolchain.RecallKey{Owner: e.Job.Caller, Arch: e.Slot.Arch, Text: kernelsText(e.request)}}
	// An unreadable entry is compiled again.
	if json.Unmarshal(e.builder.Recall(found.key), &found.compiled) == nil && found.compiled != nil {
		found.wasKnown = true
		return found, nil
	}
	if !compilesAlone(e.request) {
		return found, nil
	}
	sidecar, release, err := e.AcquireSidecar(ctx)
	if err != nil {
		return found, err
	}
	defer release()
	if sidecar == nil {
		return found, nil
	}
	program, _ := sidecar.Next(e.Job.Caller, e.artifact)
	if program == nil {
		program = e.builder.OpenReady(e.artifact, sidecar.Place)
	}
	if program == nil {
		return found, nil
	}
	e.begin(kernelrun.StageCompiling)
	var usable bool
	limit := time.Duration(e.request.Timeout) * time.Second / 2
	found.compiled, found.duration, usable, err = e.compileIn(ctx, program, limit)
	sidecar.Keep(e.Job.Caller, program, nil, usable)
	if found.compiled != nil {
		e.builder.Remember(jsonOf(found.compiled), found.key)
	}
	return found, err
}

// compileIn compiles the kernels in a sidecar's program, and reports whether that can compile others. The error means
// that the sandbox environment must not be used again. The time of a failed compilation does not count for the time
// limit of the run.
func (e *Evaluation) compileIn(
	ctx context.Context, program toolchain.Program, limit time.Duration,
) (compiled map[string]string, took time.Duration, usable bool, err error) {
	compiled, usable = map[string]string{}, true
	complete := true
	for _, label := range kernelLabels(e.request) {
		if !complete || !compilesBefore(e.request, label) {
			continue
		}
		report := newReader(func(string) {})
		out, err := program.RunStage(ctx, toolchain.StageRequest{Mode: ModeCompile, Timeout: limit - took, OnPipe: report.read,
			Processes: []toolchain.Process{e.process(ModeCompile, label)}, WithoutJudge: true})
		if errors.Is(err, sandbox.ErrProcessStuck) {
			return nil, 0, false, err
		}
		if err != nil {
			e.Log.Warn("kernel not compiled before its run", "evaluation", e.Job.EvaluationID, "kernel", label, "err", err)
		}
		took += out.WallTime
		usable = err == nil && out.Limit == "" && !out.Cancelled
		complete = usable && out.ExitCode == 0
		if text := report.compiled[label]; text != "" { // written by the kernel's own process, which may add other labels
			compiled[label] = text
		}
	}
	e.Result.ProgramNS += took.Nanoseconds()
	if !complete || len(compiled) == 0 {
		return nil, 0, usable, nil
	}
	return compiled, took, usable, nil
}
