# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(1 << 22).bfloat16()]
# custom_kernel: torch_cuda
import torch, os
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(const __nv_bfloat162* x, __nv_bfloat162* y, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i] * __float2bfloat162_rn(1.f);
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x); long n = x.numel() / 2;
    k<<<(n + 255) / 256, 256>>>((const __nv_bfloat162*)x.data_ptr<at::BFloat16>(), (__nv_bfloat162*)y.data_ptr<at::BFloat16>(), n);
    return y;
}
"""
cpp_source = "torch::Tensor twice(torch::Tensor x);"
ext = load_inline(name="twice_bf", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["twice"], extra_cuda_cflags=["-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__", "-U__CUDA_NO_BFLOAT162_OPERATORS__", "-U__CUDA_NO_BFLOAT16_OPERATORS__", "--expt-relaxed-constexpr", "--expt-extended-lambda"])
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
