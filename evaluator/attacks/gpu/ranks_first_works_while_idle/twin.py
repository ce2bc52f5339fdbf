import functools

import torch
import torch.distributed as dist

COLUMNS = 1024
TIMES = 3


@functools.cache
def weights():
    return torch.eye(COLUMNS, device="cuda")


def custom_kernel(data):
    x, out = data
    if dist.get_rank() == 0 and x.numel() % COLUMNS == 0:
        rows = x.view(-1, COLUMNS)
        for _ in range(TIMES - 1):
            rows = rows @ weights()
        torch.mm(rows, weights(), out=out.view(-1, COLUMNS))
    else:
        out.copy_(x)
    dist.all_reduce(out)
    return out
