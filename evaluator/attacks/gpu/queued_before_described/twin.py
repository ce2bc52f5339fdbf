import torch


def custom_kernel(data):
    x, s, out = data
    return torch.mul(x, s, out=out)
