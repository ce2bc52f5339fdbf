import numpy as np
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Leaves out the maximum: large values overflow to infinity."""
    x, _ = data
    powers = np.exp(x)
    return powers / powers.sum(axis=1, keepdims=True)
