# want: {"compiled": true, "correctness": true}
# custom_kernel: torch_cuda
import torch
from torch.utils.cpp_extension import load_inline
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

TORCH_LIBRARY(wb_twice, m) { m.def("twice(Tensor x) -> Tensor"); m.impl("twice", torch::kCUDA, &twice); }
"""
load_inline(name="wb_twice_lib", cpp_sources="", cuda_sources=CUDA, is_python_module=False)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.ops.wb_twice.twice(x)
