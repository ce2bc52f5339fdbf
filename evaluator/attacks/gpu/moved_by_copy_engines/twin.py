import torch


def custom_kernel(data):
    x, out = data
    half = x.numel() // 2
    return torch.cat((x[half:], x[:half]), out=out)
