import numpy as np


def custom_kernel(data):
    y = data[0]
    for _ in range(4):
        y = np.sin(y) + 0.5 * y
    return y, y * y
