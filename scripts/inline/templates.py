"""templates with several instantiations, packed_accessor"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>
#include <vector>

template <typename T>
using Matrix = torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits>;

template <typename T, int WIDTH, bool POSITIVE>
__global__ void smooth(const Matrix<T> x, const Matrix<T> y, Matrix<T> out) {
    const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= x.size(1)) return;
    T sum = T(0);
#pragma unroll
    for (int by = -WIDTH; by <= WIDTH; by++) {
        const int from = min(max(column + by, 0), int(x.size(1)) - 1);
        sum += x[row][from] * y[row][column];
    }
    out[row][column] = POSITIVE && sum < T(0) ? T(0) : sum / T(2 * WIDTH + 1);
}

template <typename T, int WIDTH, bool POSITIVE>
torch::Tensor smoothed(torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty_like(x);
    const dim3 blocks((x.size(1) + 31) / 32, x.size(0));
    smooth<T, WIDTH, POSITIVE><<<blocks, 32>>>(
        x.packed_accessor32<T, 2, torch::RestrictPtrTraits>(), y.packed_accessor32<T, 2, torch::RestrictPtrTraits>(),
        out.packed_accessor32<T, 2, torch::RestrictPtrTraits>());
    return out;
}

std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y) {
    auto few = x.slice(0, 0, 8).to(torch::kDouble), too = y.slice(0, 0, 8).to(torch::kDouble);
    return {smoothed<float, 1, false>(x, y), smoothed<float, 3, true>(x, y), smoothed<double, 2, true>(few, too)};
}
"""

module = load_inline(name="templates", cpp_sources="std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y);", cuda_sources=CUDA,
                     functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x.view(64, 64), y.view(64, 64))
