from concurrent.futures import ThreadPoolExecutor

import torch

pool = ThreadPoolExecutor(1)


def launch(a, b, out):
    torch.add(a, b, out=out)


def custom_kernel(data):
    """Launches in a thread, which it waits for."""
    pool.submit(launch, *data).result()
    return data[2]
