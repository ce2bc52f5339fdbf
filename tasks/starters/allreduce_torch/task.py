"""The types of one call on one rank."""

import torch

# (x, out): this rank's vector, and memory for the sum over all ranks; float32, (size,).
input_t = tuple[torch.Tensor, torch.Tensor]
# The sum over all ranks; float32, (size,). Each rank returns its own copy.
output_t = torch.Tensor
