"""A task of the attack corpus: its answer has a large part, and a small part that takes as long to compute."""

import sys

import numpy as np
import warpboard_regions
import warpboard_stats


def shorten():
    """Shortens the stages by fewer calls, and by less memory to flush. A task can do this, because its code runs in the
    judge's process."""
    main = sys.modules["__main__"]
    main.StopRule = lambda **rule: warpboard_stats.StopRule(**{**rule, "most": 15})
    warpboard_regions._flush_bytes = lambda: 1 << 20


shorten()


def generate_input(size, seed):
    x = np.random.default_rng(seed).standard_normal((size, 256))
    return x, np.full_like(x, np.nan), np.full(size, np.nan)


def check_implementation(data, output):
    x = data[0]
    if type(output) is not tuple or len(output) != 2:
        return False, "the answer is not a tuple of two"
    for got, want in zip(output, (2 * x, np.einsum("ij,ij->i", x, x))):
        if type(got) is not np.ndarray or got.dtype != want.dtype or got.shape != want.shape or not np.allclose(got, want, rtol=1e-12, atol=0):
            return False, "a part of the answer is wrong"
    return True, ""
