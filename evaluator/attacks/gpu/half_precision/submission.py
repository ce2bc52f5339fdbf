import torch


def custom_kernel(data):
    x, out = data
    out.copy_(torch.softmax((x - x.amax(dim=1, keepdim=True)).half(), dim=1))
    return out
