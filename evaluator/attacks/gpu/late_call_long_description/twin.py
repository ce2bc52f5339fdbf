import torch


def custom_kernel(data):
    """Waits for the device on the host: released late, and the device's switch of contexts is not its time."""
    a, b, out = data
    torch.add(a, b, out=out)
    out[0].item()
    return out
