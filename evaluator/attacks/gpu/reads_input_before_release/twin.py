import torch

side = torch.cuda.Stream()


def custom_kernel(data):
    a, b, out = data
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.add(a, b, out=out)
    torch.cuda.current_stream().wait_stream(side)
    return out
