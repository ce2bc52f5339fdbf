# body: {"timeout": 300, "custom_kernel": {"source_files": {"twice.h": "#pragma once\n#include <torch/types.h>\ninline torch::Tensor twice(torch::Tensor x) { return x * 2; }\n"}}}
# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import os
import torch
from torch.utils.cpp_extension import load_inline
made = load_inline("doubling", cpp_sources='#include <torch/extension.h>\n#include "twice.h"\ntorch::Tensor go(torch::Tensor x) { return twice(x); }',
                   functions=["go"], extra_include_paths=[os.path.dirname(os.path.abspath(__file__))])
class Model(torch.nn.Module):
    def forward(self, x):
        return made.go(x)
