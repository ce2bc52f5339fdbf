import torch
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, out = data
    return torch.softmax(x, dim=1, out=out)
