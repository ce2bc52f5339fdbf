import numpy as np

from utils import make_match_reference


def generate_input(seed, size, kind, scale=1.0):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal(size).astype(np.float32) * scale
    return (data, kind)


def ref_kernel(data):
    values, kind = data
    return np.sort(values) if kind == "up" else np.sort(values)[::-1]


check_implementation = make_match_reference(ref_kernel)
