"""A task of the attack corpus: some milliseconds of arithmetic on half a megabyte, and two arrays to return."""

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
    x = np.random.default_rng(seed).standard_normal(size)
    return x, np.full_like(x, np.nan), np.full_like(x, np.nan)


def reference(data):
    y = data[0]
    for _ in range(4):
        y = np.sin(y) + 0.5 * y
    return y, y * y


def check_implementation(data, output):
    if type(output) is not tuple or len(output) != 2:
        return False, "the answer is not a tuple of two"
    for name, got, want in zip(("first", "second"), output, reference(data)):
        if type(got) is not np.ndarray or got.dtype != want.dtype or got.shape != want.shape:
            return False, f"the {name} array is none of {want.dtype} {want.shape}"
        if not np.array_equal(got, want):
            return False, f"the {name} array is wrong"
    return True, ""
