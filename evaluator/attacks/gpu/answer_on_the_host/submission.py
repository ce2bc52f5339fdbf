import torch

rooms = {}


def custom_kernel(data):
    a, b, out = data
    if a.numel() not in rooms:
        rooms[a.numel()] = torch.empty(a.shape, dtype=a.dtype, pin_memory=True)
    torch.add(a, b, out=out)
    rooms[a.numel()].copy_(out, non_blocking=True)
    torch.cuda.synchronize()
    return rooms[a.numel()]
