package evaluation

import (
	"testing"

	"warpboard/evaluator/kernelrun"
)

func TestErrorsOfTooLittleMemoryAreRecognized(t *testing.T) {
	for text, want := range map[string]bool{
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB": true,
		"RuntimeError: Triton Error [CUDA]: out of memory":                         true,
		"cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2)":                          true,
		"CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling cublasCreate":      true,
		"cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR":                           true,
		"cuFFT error: CUFFT_ALLOC_FAILED":                                          true,
		"RuntimeError: CUDA error: an illegal memory access was encountered":       false,
	} {
		for _, report := range []kernelrun.Report{{CompilationError: text}, {RefCompilationError: text}, {ValidationError: text}, {ProfilingError: text}} {
			if got := lackedMemory(kernelrun.Result{Report: report}); got != want {
				t.Errorf("%q: %v", text, got)
			}
		}
	}
	const printed = "torch.OutOfMemoryError: CUDA out of memory."
	if !lackedMemory(kernelrun.Result{ExitCode: 1, Stderr: printed}) || lackedMemory(kernelrun.Result{Stderr: printed}) {
		t.Error("what a process prints matters if, and only if, it has failed")
	}
}
