import torch


def custom_kernel(data):
    a, b, out = data
    return torch.matmul(a, b, out=out)
