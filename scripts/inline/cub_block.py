"""cub: a block's reduction and scan"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <cub/cub.cuh>
#include <torch/extension.h>
#include <vector>

template <int THREADS>
__global__ void sums(const float* x, const float* y, float* running, float* total) {
    using Reduce = cub::BlockReduce<float, THREADS>;
    using Scan = cub::BlockScan<float, THREADS>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
    } room;
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const float product = x[i] * y[i];
    const float sum = Reduce(room.reduce).Sum(product);
    if (threadIdx.x == 0) total[blockIdx.x] = sum;
    __syncthreads();
    float before;
    Scan(room.scan).InclusiveSum(product, before);
    running[i] = before;
}

std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y) {
    constexpr int threads = 128;
    const int64_t blocks = x.numel() / threads;
    auto running = torch::empty_like(x);
    auto total = torch::empty({blocks}, x.options());
    sums<threads><<<blocks, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), running.data_ptr<float>(), total.data_ptr<float>());
    return {running, total};
}
"""

module = load_inline(name="cub_block", cpp_sources="std::vector<torch::Tensor> run(torch::Tensor x, torch::Tensor y);", cuda_sources=CUDA,
                     functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x, y)
