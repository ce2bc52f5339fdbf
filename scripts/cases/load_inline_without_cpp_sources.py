# want: {"compiled": false, "compilation_error": "~cpp_sources"}
# custom_kernel: torch_cuda
import torch
from torch.utils.cpp_extension import load_inline
cuda_source = r"""
#include <torch/extension.h>
__global__ void k(const float* x, float* y, long n) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2.f * x[i];
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x);
    k<<<1024, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ext = load_inline(name="noc", cuda_sources=cuda_source, functions=["twice"], verbose=True)
    def forward(self, x):
        return self.ext.twice(x)
