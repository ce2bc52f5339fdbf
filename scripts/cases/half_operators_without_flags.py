# want: {"compiled": false, "compilation_error": "~error"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(1 << 22).half()]
# custom_kernel: torch_cuda
import torch, os
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_fp16.h>
__global__ void k(const __half2* x, __half2* y, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i] * __float2half2_rn(1.f);
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x); long n = x.numel() / 2;
    k<<<(n + 255) / 256, 256>>>((const __half2*)x.data_ptr<at::Half>(), (__half2*)y.data_ptr<at::Half>(), n);
    return y;
}
"""
cpp_source = "torch::Tensor twice(torch::Tensor x);"
ext = load_inline(name="twice_bf2", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["twice"], )
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
