"""The types of one call."""

import torch

# (a, b, out): matrices of shape (m, k) and (k, n), and memory for their product; float16, on the GPU.
input_t = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
# a @ b; float16, (m, n).
output_t = torch.Tensor
