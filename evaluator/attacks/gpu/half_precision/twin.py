import torch


def custom_kernel(data):
    x, out = data
    return torch.softmax(x, dim=1, out=out)
