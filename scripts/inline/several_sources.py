"""two CUDA and two C++ sources"""

import torch
from torch.utils.cpp_extension import load_inline

KERNELS = """
__global__ void scale(const float* x, float* out, float by, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = by * x[i];
}

__global__ void halves(const float* x, float* out, int middle) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < middle) out[i] = x[i] - x[i + middle];
}
"""
WRAPPERS = """
#include <torch/extension.h>

torch::Tensor scale_cuda(torch::Tensor x, double by) {
    auto out = torch::empty_like(x);
    const int n = x.numel();
    scale<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), out.data_ptr<float>(), by, n);
    return out;
}

torch::Tensor halves_cuda(torch::Tensor x) {
    const int middle = x.numel() / 2;
    auto out = torch::empty({middle}, x.options());
    halves<<<(middle + 127) / 128, 128>>>(x.data_ptr<float>(), out.data_ptr<float>(), middle);
    return out;
}
"""
DECLARATIONS = """
torch::Tensor scale_cuda(torch::Tensor x, double by);
torch::Tensor halves_cuda(torch::Tensor x);
"""
HOST = """
#include <vector>

std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y) {
    TORCH_CHECK(x.is_cuda() && y.is_cuda(), "x and y must be on a GPU");
    TORCH_CHECK(x.sizes() == y.sizes(), "x and y must have the same shape");
    return {scale_cuda(x, 1.7) + torch::sigmoid(y), halves_cuda(y.contiguous())};
}

int64_t count(torch::Tensor x) { return x.numel(); }
"""

module = load_inline(name="several_sources", cpp_sources=[DECLARATIONS, HOST], cuda_sources=[KERNELS, WRAPPERS], functions=["run", "count"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return [part * module.count(x) for part in module.run(x, y)]
