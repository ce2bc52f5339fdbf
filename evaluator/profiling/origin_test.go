package profiling_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/e2e/fuzztest"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/ncutest"
	"warpboard/evaluator/profiling"
)

const triton = "import torch\nimport triton\n\n@triton.autotune(configs, key=['n'])\n@triton.jit\ndef softmax_row(x, y, n):\n    pass\n\ndef custom_kernel(data):\n    return torch.softmax(data @ data, -1)\n"

// TestKernelsOfRealReportsHaveTheirOrigins uses reports that Nsight Compute printed on an H200.
func TestKernelsOfRealReportsHaveTheirOrigins(t *testing.T) {
	for report, c := range map[string]struct {
		source string
		want   []job.Kernel
	}{
		"tri": {triton, []job.Kernel{
			{Name: "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", Origin: "cuBLAS", FromLibrary: true, LaunchCount: 1,
				NS: 175_872, Share: 0.850},
			{Name: "softmax_row", Origin: "source", LaunchCount: 1, NS: 30_944, Share: 0.150}}},
		"cuda4": {"__global__ void saxpy(int n, float a, const float* x, float* y) {}\ntemplate <int N>\n__global__ void __launch_bounds__(256) reduce_shared(const float*);", []job.Kernel{
			{Name: "saxpy", Origin: "source", LaunchCount: 1}, {Name: "matmul_naive", Origin: "unknown", LaunchCount: 1},
			{Name: "transpose_strided", Origin: "unknown", LaunchCount: 1},
			{Name: "reduce_shared", Origin: "source", LaunchCount: 1}}},
	} {
		read := ncu.ParsePages(ncu.CSVPages{RawPage: ncutest.Page(t, "../ncu/testdata", report, "raw")})
		got := profiling.KernelOrigins(read, map[string][]byte{"submission": []byte(c.source)})
		plain := cmpopts.EquateApprox(0, 0.001)
		if report == "cuda4" {
			plain = cmpopts.IgnoreFields(job.Kernel{}, "NS", "Share")
		}
		if diff := cmp.Diff(c.want, got, plain); diff != "" {
			t.Errorf("%s: want -, is +:\n%s", report, diff)
		}
	}
}

func reportOf(names ...string) *ncu.Report {
	report := &ncu.Report{}
	for _, name := range names {
		report.Kernels = append(report.Kernels, ncu.Kernel{Name: name, Metrics: map[string]ncu.Metric{
			"gpu__time_duration.sum": {Text: "1000", UnitName: "ns", Value: 1000, Measured: true}}})
	}
	return report
}

func TestAKernelsNameTellsItsOrigin(t *testing.T) {
	const own = `import torch
from torch.utils.cpp_extension import load_inline
cuda = r"""
namespace fast { template <typename T, int N>
static __global__ __launch_bounds__(min(256, N), 2) void tile(const T* a, T* b) {}
} // it is faster than __global__ void nvjet_sm90_hsh_128x128(float*) of originCuBLAS
"""
@cute.kernel
def gemm(a, b): pass
@triton.jit(do_not_specialize=["n"])  # as torch.compile wrote it

def triton_poi_fused_mine_0(x): pass
def helper(x): pass
`
	for name, want := range map[string]string{
		"void fast::tile<float, (int)4>(const T1 *, T1 *)":       "source fast::tile<float, 4>",
		"void (anonymous namespace)::tile<float>(const float *)": "source tile<float>",
		"_ZN4fast4tileIfLi4EEEvPKT_PS1_":                         "source fast::tile<float, 4>",
		"tile":                                                   "source tile",
		"kernel_cutlass_gemm_tensorptrf16gmem_o8192_TiledMMA_0":  "source kernel_cutlass_gemm_tensorptrf16gmem_o8192_TiledMMA_0",
		"kernel_cutlass_other_tensorptr_0":                       "unknown kernel_cutlass_other_tensorptr_0",
		"triton_poi_fused_mine_0":                                "source triton_poi_fused_mine_0",
		"triton_red_fused_add_sum_1":                             "Triton (torch.compile) triton_red_fused_add_sum_1",
		"helper":                                                 "unknown helper",
		"tiles":                                                  "unknown tiles",
		"nvjet_sm90_hsh_128x128":                                 "cuBLAS nvjet_sm90_hsh_128x128",
		"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn":                                                                                                    "cuBLAS ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas":                                                                                             "cuBLAS sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
		"void cublasLt::splitKreduce_kernel<(int)32, (int)16, int, float>(cublasLt::cublasSplitKParams<float>)":                                                          "cuBLAS cublasLt::splitKreduce_kernel<32, 16, int, float>",
		"void dot_kernel<float, (int)128, (int)0, cublasDotParams<cublasGemvTensor<const float>>>(T4)":                                                                   "cuBLAS dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<const float>>>",
		"void gemv2T_kernel_val<int, int, float, float>(T13, T6)":                                                                                                        "cuBLAS gemv2T_kernel_val<int, int, float, float>",
		"void internal::gemvx::kernel<int, int, float>(T1)":                                                                                                              "cuBLAS internal::gemvx::kernel<int, int, float>",
		"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16":                                                                             "cuDNN sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16",
		"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32>(T1::Params)":                                                                         "cuDNN cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32>",
		"void cudnn::ops::nchwToNhwcKernel<float, float>(cudnn::ops::nchw2nhwc_params_t<T3>)":                                                                            "cuDNN cudnn::ops::nchwToNhwcKernel<float, float>",
		"void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x128_32x5_tn_align8>(T1::Params)":                                                                  "CUTLASS cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x128_32x5_tn_align8>",
		"void cub::CUB_200302_900_NS::DeviceReduceKernel<cub::Policy>(T2)":                                                                                               "CUB or Thrust cub::CUB_200302_900_NS::DeviceReduceKernel<cub::Policy>",
		"void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>, std::array<char *, (unsigned long)1>>(int, T2, T3)":                      "PyTorch (ATen) at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char *, 1>>",
		"void at::native::<unnamed>::CatArrayBatchedCopy<unsigned int>(unsigned int *)":                                                                                  "PyTorch (ATen) at::native::CatArrayBatchedCopy<unsigned int>",
		"void <unnamed>::softmax_warp_forward<float, float, float, (int)10, (bool)0, (bool)0>(T2 *, const T1 *, int)":                                                    "PyTorch (ATen) softmax_warp_forward<float, float, float, 10, 0, 0>",
		"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)64>>(pytorch_flash::Flash_fwd_params)":                                                        "PyTorch (ATen) pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>",
		"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t>::Params)":                                                 "PyTorch (ATen) fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)":                                                                         "NCCL ncclDevKernel_AllReduce_Sum_f32_RING_LL",
		"_5x_cudnn_ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1":                                                                                         "cuDNN _5x_cudnn_ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
		"volta_scudnn_128x64_relu_medium_nn_v1":                                                                                                                          "cuDNN volta_scudnn_128x64_relu_medium_nn_v1",
		"void cask__5x_cudnn::computeOffsetsKernel<(bool)0, (bool)0>(cask__5x_cudnn::ComputeOffsetsParams)":                                                              "cuDNN cask__5x_cudnn::computeOffsetsKernel<0, 0>",
		"void gemmSN_TN_kernel<float, (int)128, cublasGemvTensorStridedBatched<const float>>(T1)":                                                                        "cuBLAS gemmSN_TN_kernel<float, 128, cublasGemvTensorStridedBatched<const float>>",
		"std::enable_if<!(bool)0, void>::type internal::gemvx::kernel<int, int>(T1)":                                                                                     "cuBLAS internal::gemvx::kernel<int, int>",
		"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const>(int)": "PyTorch (ATen) at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const>",
		"void <unnamed>::sparse_attention_kernel<(bool)1>(<unnamed>::SparseAttentionParams)":                                                                             "unknown sparse_attention_kernel<1>",
		"": "unknown ",
	} {
		rows := profiling.KernelOrigins(reportOf(name), map[string][]byte{"submission.py": []byte(own)})
		if got := rows[0].Origin + " " + rows[0].Name; got != want ||
			rows[0].FromLibrary == (rows[0].Origin == "source" || rows[0].Origin == "unknown") {
			t.Errorf("%s\n is %s (library: %v)\nnot %s", name, got, rows[0].FromLibrary, want)
		}
	}
}

func TestASourceMayHaveNamesThatLibrariesHaveToo(t *testing.T) {
	names := []string{"void gemv2T_kernel_val<int>(int)", "softmax_warp_forward(float *)", "void tile(int)",
		"void at::native::mine(int)", "hopper_bf16_gemm_tma"}
	for source, want := range map[string]string{
		"": "cuBLAS, PyTorch (ATen), unknown, PyTorch (ATen), cuBLAS",
		"template<class T> __global__ void gemv2T_kernel_val(T);\n__global__ void softmax_warp_forward(float*){}": "source, source, unknown, PyTorch (ATen), cuBLAS",
		"__global__ void hopper_bf16_gemm_tma(float*);":                                                           "cuBLAS, PyTorch (ATen), unknown, PyTorch (ATen), source",
		"#define KERNEL __global__ void\nKERNEL tile(int n) {}\nnamespace at::native { KERNEL mine(int); }":       "cuBLAS, PyTorch (ATen), source, PyTorch (ATen), cuBLAS",
	} {
		var got []string
		for _, k := range profiling.KernelOrigins(reportOf(names...), map[string][]byte{"submission.cu": []byte(source)}) {
			got = append(got, k.Origin)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", source, got, want)
		}
	}
}

func TestLaunchesOfAKernelAreOneRow(t *testing.T) {
	report := reportOf("a(int)", "b(int)", "a(int)", "a(float)")
	want := []job.Kernel{{Name: "a", Origin: "unknown", LaunchCount: 3, NS: 3000, Share: 0.75},
		{Name: "b", Origin: "unknown", LaunchCount: 1, NS: 1000, Share: 0.25}}
	if diff := cmp.Diff(want, profiling.KernelOrigins(report, nil)); diff != "" {
		t.Errorf("want -, is +:\n%s", diff)
	}
	report.Kernels[1].Metrics = nil // one time is unknown, so no share can be computed
	want = []job.Kernel{{Name: "a", Origin: "unknown", LaunchCount: 3, NS: 3000},
		{Name: "b", Origin: "unknown", LaunchCount: 1}}
	if diff := cmp.Diff(want, profiling.KernelOrigins(report, nil)); diff != "" {
		t.Errorf("without a duration: want -, is +:\n%s", diff)
	}
}

func FuzzNamesOfKernels(f *testing.F) {
	fuzztest.Moment(f)
	for _, seed := range []string{"void a::b<(int)4, c<d>>(int, T2)", "nvjet_x", "_ZN4fast4tileIfLi4EEEvPKT_PS1_",
		"operator<(int)", "a<", "((", "kernel_cutlass_k_0", "\xff\x00(anonymous namespace)::x", "\u202eabc"} {
		f.Add(seed, "__global__ void "+seed+" {")
	}
	f.Fuzz(func(t *testing.T, name, source string) {
		rows := profiling.KernelOrigins(reportOf(name, name), map[string][]byte{"s": []byte(source)})
		r := job.Result{Stages: []job.StageResult{{Cases: []job.CaseResult{{Kernels: rows}}}}}
		if err := r.Check(); err != nil || len(rows) != 1 || rows[0].LaunchCount != 2 ||
			!utf8.ValidString(rows[0].Name) ||
			job.HasBidiControls([]byte(rows[0].Name)) {
			t.Errorf("%q: %+v, %v", name, rows, err)
		}
	})
}
