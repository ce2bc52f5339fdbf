import numpy as np


def work(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)
    return first, second


def custom_kernel(data):
    return work(*data)
