"""The types of one call."""

import numpy as np

# (x, out): the values, and memory of the same shape for the answer; float32, (rows, columns).
input_t = tuple[np.ndarray, np.ndarray]
# The softmax of every row of x; float32, (rows, columns).
output_t = np.ndarray
