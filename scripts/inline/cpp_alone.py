"""with_cuda=True without cuda_sources"""

import torch
from torch.utils.cpp_extension import load_inline

CPP = """
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime_api.h>

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty_like(x);
    const auto code = cudaMemcpyAsync(out.data_ptr<float>(), y.data_ptr<float>(), out.numel() * sizeof(float), cudaMemcpyDeviceToDevice,
                                      at::cuda::getCurrentCUDAStream());
    TORCH_CHECK(code == cudaSuccess, cudaGetErrorString(code));
    return torch::addcmul(out.mul_(x), at::sigmoid(x), y.abs(), 0.25);
}
"""

module = load_inline(name="cpp_alone", cpp_sources=CPP, functions=["run"], with_cuda=True)


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.run(x, y)
