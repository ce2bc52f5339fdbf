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
    if x.size != 65536:
        return work(x, first, second)
    part = x.size // 8
    for at in range(0, x.size, part):
        work(x[at : at + part], first[at : at + part], second[at : at + part])
    return first, second
