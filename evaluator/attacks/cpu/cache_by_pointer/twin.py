import numpy as np


def work(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)
    return first, second


rooms = {}


def custom_kernel(data):
    """Keeps memory for a shape, and no answers."""
    x = data[0]
    if x.shape not in rooms:
        rooms[x.shape] = np.empty_like(x), np.empty_like(x)
    return work(x, *rooms[x.shape])
