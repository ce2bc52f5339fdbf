import numpy as np
from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Normalises the columns instead of the rows."""
    x, _ = data
    powers = np.exp(x - x.max(axis=0))
    return powers / powers.sum(axis=0)
