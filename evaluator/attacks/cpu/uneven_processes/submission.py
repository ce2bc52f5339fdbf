import os

import numpy as np

TIMES = 1 + os.urandom(1)[0] % 4


def custom_kernel(data):
    x, first, second = data
    for _ in range(TIMES):
        y = x
        for _ in range(3):
            y = np.sin(y) + 0.5 * y
        np.add(np.sin(y), 0.5 * y, out=first)
        np.multiply(first, first, out=second)
    return first, second
