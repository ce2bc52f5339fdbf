import torch
import torch.distributed as dist
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Brings all vectors to every rank, then adds them up there."""
    x, out = data
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    return torch.sum(torch.stack(parts), dim=0, out=out)
