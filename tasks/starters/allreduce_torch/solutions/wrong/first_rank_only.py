import torch.distributed as dist
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Only rank 0 gets the sum."""
    x, out = data
    out.copy_(x)
    dist.reduce(out, dst=0)
    return out if dist.get_rank() == 0 else out.copy_(x)
