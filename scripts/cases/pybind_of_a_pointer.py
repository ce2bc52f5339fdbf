# want: {"correctness": false, "remarks": "~converts no tensor to a pointer"}
# custom_kernel: torch_cuda
import torch, os
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
__global__ void k(const float* x, float* y, long n) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2.f * x[i];
}
torch::Tensor twice(torch::Tensor x, const float* b) {
    auto y = torch::empty_like(x);
    k<<<1024, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
cpp_source = "torch::Tensor twice(torch::Tensor x, const float* b);"
ext = load_inline(name="ptr_ext", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["twice"], )
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
