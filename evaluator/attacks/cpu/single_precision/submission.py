import numpy as np


def custom_kernel(data):
    y = data[0].astype(np.float32)
    for _ in range(4):
        y = np.sin(y) + np.float32(0.5) * y
    return y.astype(np.float64), (y * y).astype(np.float64)
