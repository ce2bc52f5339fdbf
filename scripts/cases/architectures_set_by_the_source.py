# want: {"compiled": true, "correctness": true}
# custom_kernel: torch_cuda
import os, torch
from torch.utils.cpp_extension import load_inline
old = os.environ.get("TORCH_CUDA_ARCH_LIST")
os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a"
CUDA = r"""
#include <torch/extension.h>
__global__ void k(const float* x, float* y, long n) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2.f * x[i];
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x);
    k<<<1024, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice, "doubles"); }
"""
try:
    ext = load_inline(name="twice_own_module", cpp_sources="", cuda_sources=CUDA, functions=None, extra_cflags=["-O3", "-DNDEBUG", "-std=c++20"],
        extra_cuda_cflags=["-O3", "-std=c++20", "--use_fast_math", "--extra-device-vectorization", "-gencode", "arch=compute_90a,code=sm_90a"], extra_ldflags=["-lcublas"], verbose=False)
finally:
    if old is None: os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
    else: os.environ["TORCH_CUDA_ARCH_LIST"] = old
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
