"""AT_DISPATCH_FLOATING_TYPES"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <ATen/Dispatch.h>
#include <torch/extension.h>

template <typename scalar_t>
__global__ void soft(const scalar_t* __restrict__ x, const scalar_t* __restrict__ y, scalar_t* __restrict__ out, int64_t n) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] / (scalar_t(1) + exp(-y[i]));
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    auto out = torch::zeros_like(x);
    const int64_t n = x.numel();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "run", [&] {
        soft<scalar_t><<<(n + 255) / 256, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n);
    });
    return out;
}
"""

module = load_inline(name="dispatch", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor y);", cuda_sources=CUDA, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return [module.run(x, y), module.run(x[:1024].double(), y[:1024].double())]
