package evaluation

import (
	"context"
	"regexp"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// memoryError matches the errors of PyTorch, Triton, CUDA, and its libraries if a device has too little free memory. A
// library that cannot allocate its workspace reports one of several states.
var memoryError = regexp.MustCompile(`(?i)out[ _]of[ _]memory|_ALLOC_FAILED|_STATUS_(NOT_INITIALIZED|INTERNAL_ERROR)`)

// lackedMemory reports whether a kernel failed because its device had too little free memory.
func lackedMemory(r kernelrun.Result) bool {
	text := r.CompilationError + r.RefCompilationError + r.ValidationError + r.ProfilingError
	if r.ExitCode != 0 || r.Signal != "" {
		text += r.Stderr
	}
	return memoryError.MatchString(text)
}

// testBoth tests the kernels, and again if they lacked memory that processes of the evaluation before may have had
// while the kernels were loaded. These have ended then. onStage is called for each stage.
func (e *Evaluation) testBoth(ctx context.Context, program toolchain.Program, onStage func(string)) (*reportReader, error) {
	report, out, err := e.testOnce(ctx, program, onStage)
	if err == nil && out.BesideEarlier && lackedMemory(report.result) {
		report, _, err = e.testOnce(ctx, program, onStage)
	}
	if err == nil && report.result.Fault == kernelrun.FaultReference && e.Slot.IsGPU() && lackedMemory(report.result) {
		err = e.checkFault(ctx, program, &report.result)
	}
	return report, err
}

func (e *Evaluation) testOnce(ctx context.Context, program toolchain.Program, onStage func(string)) (*reportReader, judge.StageEnding, error) {
	report := e.newReaderOfRequest(onStage)
	out, err := e.runProgram(ctx, program, report, e.stageRequest(ModeTest, kernelLabels(e.request)...))
	if err == nil {
		err = conclude(report, out)
	}
	return report, out, err
}

// checkFault runs the reference alone after it lacked memory beside the custom kernel. If it works alone, the custom
// kernel took the memory, and is not correct. The same holds if no time is left to find out.
func (e *Evaluation) checkFault(ctx context.Context, program toolchain.Program, result *kernelrun.Result) error {
	report := e.newReaderOfRequest(func(string) {})
	out, err := e.runProgram(ctx, program, report, e.stageRequest(modeReference, refLabel))
	if err != nil {
		return err
	}
	why := "The reference has enough of the device's memory without the kernel, but not beside it:\n"
	if report.result.RefRuntime == nil {
		if out.ExceededLimit != "wall" {
			return nil
		}
		why = "The reference had too little of the device's memory beside the kernel, and no time was left to run it alone:\n"
	}
	result.ValidationError = why + result.RefCompilationError + result.ValidationError + result.ProfilingError
	result.Fault, result.RefCompilationError, result.ProfilingError, result.Correctness = "", "", "", false
	result.RefRuntime, result.Speedup, result.SpeedupInterval = report.result.RefRuntime, nil, nil
	return nil
}
