import numpy as np


def work(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)
    return first, second


def generate_input(size, seed):
    return np.random.default_rng(seed).standard_normal(size)


# Warms up on inputs of its own and keeps what it made, as the other does: which memory later calls get depends on it.
made = {}
for seed in range(66):
    x = generate_input(65536, seed)
    made[float(x[0])] = tuple(a.copy() for a in work(x, np.empty_like(x), np.empty_like(x)))


def custom_kernel(data):
    return work(*data)
