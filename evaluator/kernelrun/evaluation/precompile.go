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

// precompiledKernels has the kernels of an evaluation that were compiled before its run.
type precompiledKernels struct {
	cacheKey      toolchain.KernelCacheKey // cache key; zero if not cached
	compiledForms map[string]string        // by the kernel's label; nil if the run on the slot compiles
	fromCache     bool                     // from an earlier evaluation
	duration      time.Duration            // time charged to the caller
}

// maxSidecarTime limits the time for which an evaluation uses a sidecar, because others wait for it. If it is too
// short, the kernel is compiled on the slot.
const maxSidecarTime = 20 * time.Second

// precompile returns the caller's compiled kernels from the cache, or compiles them in a sidecar while another job
// holds the slot. It returns none if the run on the slot should compile them: because the slot is free, no Python is
// ready, or the kernels do not compile, which the run explains better. If the slot becomes free during the compilation,
// it waits for the compiler.
func (e *Evaluation) precompile(ctx context.Context) (precompiledKernels, error) {
	if !e.Slot.IsGPU() {
		return precompiledKernels{}, nil
	}
	// The key contains the caller, because the caller's code ran in the process that wrote the archive.
	found := precompiledKernels{cacheKey: toolchain.KernelCacheKey{Owner: e.Job.Caller, Arch: e.Slot.Arch,
		SourceText: kernelsKeyText(e.request)}}
	// An unreadable entry is compiled again.
	if json.Unmarshal(e.builder.LoadKernels(found.cacheKey), &found.compiledForms) == nil &&
		found.compiledForms != nil {
		found.fromCache = true
		return found, nil
	}
	if !canCompileWithoutGPU(e.request) {
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
	program, _ := sidecar.ReopenFor(e.Job.Caller, e.artifact)
	if program == nil {
		program = e.builder.OpenReady(e.artifact, sidecar.Environment)
	}
	if program == nil {
		return found, nil
	}
	e.beginStage(kernelrun.StageCompiling)
	var usable bool
	limit := min(time.Duration(e.request.Timeout)*time.Second/2, maxSidecarTime)
	found.compiledForms, found.duration, usable, err = e.compileBesideJob(ctx, program, limit)
	sidecar.KeepProgram(e.Job.Caller, program, nil, usable)
	if found.compiledForms != nil {
		e.builder.StoreKernels(marshalPart(found.compiledForms), found.cacheKey)
	}
	return found, err
}

// compileBesideJob compiles the kernels of the request in a program that runs in a sidecar, while another job uses the
// GPU. It returns the compiled forms by label and the time that they took, or nil and 0 if a kernel does not compile;
// the run then compiles the kernels again, and the failed try does not count for its time limit. usable reports whether
// the program can be kept to compile further kernels. After an error, the sidecar's environment must not be used again.
func (e *Evaluation) compileBesideJob(
	ctx context.Context, program toolchain.Program, limit time.Duration,
) (compiled map[string]string, took time.Duration, usable bool, err error) {
	compiled, usable = map[string]string{}, true
	complete := true
	for _, label := range kernelLabels(e.request) {
		if !complete || !canPrecompile(e.request, label) {
			continue
		}
		report := newReportReader(func(string) {})
		out, err := program.RunStage(ctx, toolchain.StageRequest{Mode: ModeCompile, Timeout: limit - took, OnResultPipe: report.read,
			Processes: []toolchain.StageProcess{e.kernelProcess(ModeCompile, label)}, WithoutJudge: true})
		if errors.Is(err, sandbox.ErrProcessStuck) {
			return nil, 0, false, err
		}
		if err != nil {
			e.Log.Warn("kernel not compiled before its run", "evaluation", e.Job.EvaluationID, "kernel", label, "err", err)
		}
		took += out.WallTime
		usable = err == nil && out.ExceededLimit == "" && !out.Cancelled
		complete = usable && out.ExitCode == 0
		if text := report.compiledForms[label]; text != "" { // written by the kernel's own process, which may add other labels
			compiled[label] = text
		}
	}
	e.Result.ProgramNS += took.Nanoseconds()
	if !complete || len(compiled) == 0 {
		return nil, 0, usable, nil
	}
	return compiled, took, usable, nil
}
