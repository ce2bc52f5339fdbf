package evaluation

import (
	"context"
	"regexp"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// memoryError matches the errors of PyTorch, Triton, and CUDA if a device has too little free memory.
var memoryError = regexp.MustCompile(`(?i)out[ _]of[ _]memory`)

// lackedMemory reports whether a kernel failed because its device had too little free memory.
func lackedMemory(r kernelrun.Result) bool {
	return memoryError.MatchString(r.CompilationError + r.RefCompilationError + r.ValidationError + r.ProfilingError)
}

// testBoth tests the kernels, and again if they lacked memory that processes of the evaluation before may have had
// while the kernels were loaded. These have ended then.
func (e *Evaluation) testBoth(ctx context.Context, program toolchain.Program) (kernelrun.Result, error) {
	result, out, err := e.testOnce(ctx, program)
	if err == nil && out.BesideEarlier && lackedMemory(result) {
		result, _, err = e.testOnce(ctx, program)
	}
	if err == nil && result.Fault == kernelrun.FaultReference && e.Slot.IsGPU() && lackedMemory(result) {
		result, err = e.checkFault(ctx, program, result)
	}
	return result, err
}

func (e *Evaluation) testOnce(ctx context.Context, program toolchain.Program) (result kernelrun.Result, out judge.StageEnding, err error) {
	report := e.newReaderOfRequest(e.beginStage)
	if out, err = e.runProgram(ctx, program, report, e.stageRequest(ModeTest, kernelLabels(e.request)...)); err != nil {
		return result, out, err
	}
	result, err = programResult(report, out)
	return result, out, err
}

// checkFault runs the reference alone after it lacked memory beside the custom kernel. If it works alone, the custom
// kernel took the memory, and is not correct.
func (e *Evaluation) checkFault(ctx context.Context, program toolchain.Program, result kernelrun.Result) (kernelrun.Result, error) {
	report := e.newReaderOfRequest(func(string) {})
	if _, err := e.runProgram(ctx, program, report, e.stageRequest(modeReference, refLabel)); err != nil {
		return result, err
	}
	if report.result.RefRuntime == nil {
		return result, nil
	}
	result.ValidationError = "The reference has enough of the device's memory without the kernel, but not beside it:\n" +
		result.RefCompilationError + result.ValidationError + result.ProfilingError
	result.Fault, result.RefCompilationError, result.ProfilingError, result.Correctness = "", "", "", false
	result.RefRuntime, result.Speedup, result.SpeedupInterval = report.result.RefRuntime, nil, nil
	return result, nil
}
