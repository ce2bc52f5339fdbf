"""load: files on disk, a header of its own, extra_include_paths"""

import os
import tempfile

import torch
from torch.utils.cpp_extension import load

FILES = {
    "include/wave.h": """#pragma once
#include <torch/extension.h>

constexpr float HEIGHT = 0.625f;

torch::Tensor wave_cuda(torch::Tensor x, torch::Tensor y);
""",
    "bindings.cpp": """#include "wave.h"

torch::Tensor wave(torch::Tensor x, torch::Tensor y) { return wave_cuda(x.contiguous(), y.contiguous()); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("wave", &wave); }
""",
    "wave.cu": """#include "wave.h"

__global__ void waves(const float* x, const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = HEIGHT * cosf(x[i]) + powf(fabsf(y[i]), 1.5f);
}

torch::Tensor wave_cuda(torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty_like(x);
    const int n = x.numel();
    waves<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), n);
    return out;
}
""",
}

folder = os.path.join(tempfile.gettempdir(), "with_headers")
for name, text in FILES.items():
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)

module = load(name="with_headers", sources=[os.path.join(folder, name) for name in ("bindings.cpp", "wave.cu")],
              extra_include_paths=[os.path.join(folder, "include")], extra_cuda_cflags=["--expt-relaxed-constexpr"])


class ModelNew(torch.nn.Module):
    def forward(self, x, y):
        return module.wave(x, y)
