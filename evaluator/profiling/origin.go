package profiling

import (
	"math"
	"regexp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
)

// Origins of kernels. The origin of a library's kernel is the name of the library.
const (
	kernelOriginSource       = "source"
	kernelOriginUnknown      = "unknown"
	originCuBLAS             = "cuBLAS"
	originCuDNN              = "cuDNN"
	originCUTLASS            = "CUTLASS"
	originCUB                = "CUB or Thrust"
	originATen               = "PyTorch (ATen)"
	kernelOriginTorchCompile = "Triton (torch.compile)"
	originNCCL               = "NCCL"
	kernelOriginOtherLibrary = "other library"
)

// originRule matches the kernels of a library by the function's qualified name, or anywhere in the signature.
type originRule struct {
	origin    string
	qualified *regexp.Regexp
	signature *regexp.Regexp
}

func (r originRule) matches(n kernelName) bool {
	return r.qualified != nil && r.qualified.MatchString(n.qualified) || r.signature != nil && r.signature.MatchString(n.signature)
}

// gpuGenerationPattern matches the name of a GPU generation, which is the prefix of kernel names in cuBLAS and cuDNN.
const gpuGenerationPattern = `(?:kepler|maxwell|pascal|volta|turing|ampere|ada|hopper|blackwell)`

// originRulesBeforeSource has rules for names that only a library uses. They precede the search in the source, so that
// a comment with such a name does not make it the source's kernel. CUTLASS and CUB count as libraries even if the
// source includes their headers.
var originRulesBeforeSource = []originRule{
	{origin: originCuDNN, qualified: regexp.MustCompile(`^(?:xmma_|cask_|cutlass_)?_?(?:5x_)?cudnn\w*::|^cudnn_generated_|^_5x_cudnn_|^sm\d+_xmma_(?:fprop|dgrad|wgrad)_`)},
	{origin: originCuBLAS, qualified: regexp.MustCompile(`^nvjet_|^cublas\w*::|^sm\d+_xmma_gemm_|^(?:internal::)?gemvx::`),
		signature: regexp.MustCompile(`\bcublas[A-Z]\w*(?:Params|Tensor)`)},
	{origin: originATen, qualified: regexp.MustCompile(`^(?:at|c10|torch|caffe2|at_cuda_detail|pytorch_flash|PyTorchMemEffAttention)::|^fmha_cutlass[FB]_`)},
	{origin: originCUTLASS, qualified: regexp.MustCompile(`^cutlass::|^cutlass_\d`)},
	{origin: originCUB, qualified: regexp.MustCompile(`^(?:cub|thrust)::`)},
	{origin: originNCCL, qualified: regexp.MustCompile(`^nccl(?:Dev)?Kernel`)},
	{origin: kernelOriginOtherLibrary, qualified: regexp.MustCompile(`^(?:cusparse|cusolver|cufft|curand|transformer_engine|flashinfer)\w*::`)},
}

// originRulesAfterSource has rules for names that a source may also use. They follow the search in the source.
var originRulesAfterSource = []originRule{
	{origin: kernelOriginTorchCompile, qualified: regexp.MustCompile(`^triton_(?:poi|red|per|tem|mm|for|unk)_`)},
	{origin: originATen, qualified: regexp.MustCompile(`^(?:softmax_warp_(?:forward|backward)|elementwise_kernel_with_index)$`)},
	{origin: originCuBLAS, qualified: regexp.MustCompile(`^` + gpuGenerationPattern + `_\w*gemm_|^gemv2[TN]_kernel|^gemvNSP_kernel|^gemmk1_kernel|^gemmSN_\w+_kernel|^splitKreduce_kernel`)},
	{origin: originCuDNN, qualified: regexp.MustCompile(`^` + gpuGenerationPattern + `_\w*cudnn_|^(?:implicit|explicit)_convolve_`)},
	{origin: kernelOriginOtherLibrary, qualified: regexp.MustCompile(`^flash::|^(?:regular|vector)_fft$`)},
}

// originOfKernel returns the origin of a kernel, and whether that is a library.
func originOfKernel(n kernelName, sources map[string]bool) (origin string, library bool) {
	for _, r := range originRulesBeforeSource {
		if r.matches(n) {
			return r.origin, true
		}
	}
	if containsKernelName(sources, n) {
		return kernelOriginSource, false
	}
	for _, r := range originRulesAfterSource {
		if r.matches(n) {
			return r.origin, true
		}
	}
	return kernelOriginUnknown, false
}

// KernelOrigins lists the kernels of a report with their origins, in the order of their first launches. files has the
// submitted files by name.
func KernelOrigins(report *ncu.Report, files map[string][]byte) []job.Kernel {
	var rows []job.Kernel
	at, names := map[string]int{}, declaredKernels(files)
	var untimed []int
	for i := range report.Kernels {
		n := parseKernelName(report.Kernels[i].Name)
		row, seen := at[n.display]
		if !seen {
			origin, library := originOfKernel(n, names)
			row = len(rows)
			at[n.display], rows = row, append(rows, job.Kernel{Name: n.display, Origin: origin, FromLibrary: library})
		}
		ns, ok := report.Kernels[i].Duration()
		if !ok {
			untimed = append(untimed, row)
		}
		rows[row].LaunchCount, rows[row].NS = rows[row].LaunchCount+1, rows[row].NS+math.Round(ns)
	}
	for _, row := range untimed {
		rows[row].NS = 0
	}
	job.SetKernelShares(rows)
	return rows
}
