"""__half, __half2, __nv_bfloat16"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/extension.h>
#include <vector>

__global__ void fused(const __half2* x, const __half2* y, __half2* out, __half* sums, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 both = __hfma2(x[i], y[i], __float2half2_rn(0.3f));
    out[i] = both;
    sums[i] = __hadd(__low2half(both), __high2half(both));
}

__global__ void brain(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16(expf(__bfloat162float(__hmul(x[i], y[i]))));
}

std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y) {
    const int n = x.numel(), pairs = n / 2;
    auto a = x.to(torch::kHalf), b = y.to(torch::kHalf), out = torch::empty_like(a), sums = torch::empty({pairs}, a.options());
    fused<<<(pairs + 127) / 128, 128>>>(
        reinterpret_cast<const __half2*>(a.data_ptr<at::Half>()), reinterpret_cast<const __half2*>(b.data_ptr<at::Half>()),
        reinterpret_cast<__half2*>(out.data_ptr<at::Half>()), reinterpret_cast<__half*>(sums.data_ptr<at::Half>()), pairs);
    auto c = x.to(torch::kBFloat16), d = y.to(torch::kBFloat16), wide = torch::empty_like(c);
    brain<<<(n + 127) / 128, 128>>>(
        reinterpret_cast<const __nv_bfloat16*>(c.data_ptr<at::BFloat16>()), reinterpret_cast<const __nv_bfloat16*>(d.data_ptr<at::BFloat16>()),
        reinterpret_cast<__nv_bfloat16*>(wide.data_ptr<at::BFloat16>()), n);
    return {out, sums, wide};
}
"""

module = load_inline(name="half_types", cpp_sources="std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y);", cuda_sources=CUDA,
                     functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x, y)
