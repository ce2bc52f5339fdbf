import torch  # noqa: F401  (the process group is made for those who have loaded it)
import torch.distributed as dist


def custom_kernel(data):
    x, out = data
    out.copy_(x)
    dist.reduce(out, dst=0)
    dist.broadcast(out, src=0)
    return out
