import torch


def custom_kernel(data):
    x, s = data
    return torch.mul(x, s, out=torch.empty(x.shape, device="cuda"))
