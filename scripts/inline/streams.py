"""streams, events and guards of at::cuda and c10"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/extension.h>

__global__ void root(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrtf(fabsf(x[i]));
}

__global__ void join(const float* x, const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaf(x[i], 3.0f, y[i]);
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    const c10::cuda::OptionalCUDAGuard device(x.device());
    const int n = x.numel(), blocks = (n + 255) / 256;
    auto rooted = torch::empty_like(x), out = torch::empty_like(x);
    auto current = at::cuda::getCurrentCUDAStream();
    auto side = c10::cuda::getStreamFromPool(false, x.get_device());
    at::cuda::CUDAEvent ready, done;
    ready.record(current);
    {
        const c10::cuda::CUDAStreamGuard there(side);
        ready.block(side);
        root<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), rooted.data_ptr<float>(), n);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        done.record(side);
    }
    done.block(current);
    join<<<blocks, 256, 0, current>>>(rooted.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
    C10_CUDA_CHECK(cudaGetLastError());
    return out;
}
"""

module = load_inline(name="streams", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor y);", cuda_sources=CUDA, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x, y)
