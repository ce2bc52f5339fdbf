"""The types of one call."""

import torch

# (a, b, out): two vectors, and memory for their sum; float16, (size,), on the GPU.
input_t = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
# a + b; float16, (size,).
output_t = torch.Tensor
