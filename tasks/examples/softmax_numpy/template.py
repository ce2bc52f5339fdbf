import numpy as np
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, out = data
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    out[:] = powers / powers.sum(axis=1, keepdims=True)
    return out
