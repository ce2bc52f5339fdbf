import time

import torch

side = torch.cuda.Stream()


def custom_kernel(data):
    """The same host part, with the stream joined."""
    a, b, out = data
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.add(a, b, out=out)
    end = time.perf_counter() + 0.005
    while time.perf_counter() < end:
        pass
    torch.cuda.current_stream().wait_stream(side)
    return out
