"""extra_cuda_cflags: -O3, --use_fast_math, a macro"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>

__global__ void turn(const float* x, const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sinf(SPEED * x[i]) / (expf(y[i]) + LIFT);
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty_like(x);
    const int n = x.numel();
    turn<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""

module = load_inline(name="cuda_flags", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor y);", cuda_sources=CUDA, functions=["run"],
                     extra_cflags=["-O2"], extra_cuda_cflags=["-O3", "--use_fast_math", "-DSPEED=3.25f", "-DLIFT=0.125f"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x, y)
