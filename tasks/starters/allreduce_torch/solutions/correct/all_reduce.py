import torch.distributed as dist
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, out = data
    out.copy_(x)
    dist.all_reduce(out)
    return out
