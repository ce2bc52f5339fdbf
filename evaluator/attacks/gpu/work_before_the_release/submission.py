import torch

side = torch.cuda.Stream()


def custom_kernel(data):
    a, b, out = data
    with torch.cuda.stream(side):
        torch.add(a, b, out=out)
    side.synchronize()
    return out
