import torch


def custom_kernel(x):
    out = torch.empty(x.shape, device="cuda")
    return torch.add(x, x, out=out)
