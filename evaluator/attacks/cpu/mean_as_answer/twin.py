import numpy as np


def work(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)
    return first, second


def custom_kernel(data):
    x, first, second = data
    for at in range(0, x.size, 64):
        part = slice(at, at + 64)
        work(x[part], first[part], second[part])
    return first, second
