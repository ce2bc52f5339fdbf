"""the wrapper with <<<>>> in cpp_sources"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <cuda_runtime.h>

__global__ void mix(const float* x, const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * 0.3f + y[i] * 0.7f - x[i] * y[i];
}
"""
CPP = """
#include <torch/extension.h>

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty_like(x);
    const int n = x.numel();
    mix<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
"""

module = load_inline(name="launch_in_cpp", cpp_sources=[CPP], cuda_sources=[CUDA], functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x, y)
