import torch


def custom_kernel(data):
    x, out = data
    out.copy_(torch.sort(x).values)
    return out
