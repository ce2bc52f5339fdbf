"""The types of one call."""

import torch

# (x, out): the values, and memory of the same shape for the answer; float32, (rows, columns), on the GPU.
input_t = tuple[torch.Tensor, torch.Tensor]
# The softmax of every row of x; float32, (rows, columns), on the GPU.
output_t = torch.Tensor
