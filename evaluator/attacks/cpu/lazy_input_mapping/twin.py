from concurrent.futures import ThreadPoolExecutor

import numpy as np

pool = ThreadPoolExecutor(1)


def part(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)


def custom_kernel(data):
    half = len(data[0]) // 2
    other = pool.submit(part, *(array[half:] for array in data))
    part(*(array[:half] for array in data))
    other.result()
    return data[1], data[2]
