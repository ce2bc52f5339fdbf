import torch

side = torch.cuda.Stream()


def custom_kernel(data):
    x, y = data
    with torch.cuda.stream(side):
        there = y.to("cuda")
    side.synchronize()
    return x + there
