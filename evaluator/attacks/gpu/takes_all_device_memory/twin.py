import torch

rooms = {}


def custom_kernel(data):
    """Keeps memory for a size, and no answers."""
    a, b, _ = data
    if a.numel() not in rooms:
        rooms[a.numel()] = torch.empty_like(a)
    return torch.add(a, b, out=rooms[a.numel()])
