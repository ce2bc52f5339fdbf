import torch
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Leaves out the maximum: large values overflow to infinity."""
    x, _ = data
    powers = torch.exp(x)
    return powers / powers.sum(dim=1, keepdim=True)
