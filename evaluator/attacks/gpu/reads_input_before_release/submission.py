import torch

side = torch.cuda.Stream()
room = torch.zeros((), device="cuda")


def custom_kernel(data):
    a, b, out = data
    with torch.cuda.stream(side):
        torch.sum(a.view(torch.int16), dim=0)
        torch.sum(b.view(torch.int16), dim=0)
    return torch.add(a, b, out=out)
