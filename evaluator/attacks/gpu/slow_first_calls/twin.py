import time

import torch

tuned = set()


def custom_kernel(data):
    """Tunes itself in the first call of a size."""
    a, b, out = data
    if out.numel() not in tuned:
        tuned.add(out.numel())
        time.sleep(0.2)
    return torch.add(a, b, out=out)
