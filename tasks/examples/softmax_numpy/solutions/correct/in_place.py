import numpy as np
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Works in the output's memory: no large array is allocated."""
    x, out = data
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out *= 1 / out.sum(axis=1, keepdims=True)
    return out
