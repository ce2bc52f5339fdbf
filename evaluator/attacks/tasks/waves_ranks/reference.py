"""A task of the attack corpus for two ranks: some milliseconds of arithmetic on each, and a sum of both."""

import sys

import numpy as np
import warpboard_regions
import warpboard_stats


def shorten():
    """Shortens the stages by fewer calls, and by less memory to flush. A task can do this, because its code runs in the
    judge's process."""
    main = sys.modules["__main__"]
    main.StopRule = lambda **rule: warpboard_stats.StopRule(**{**rule, "most": 8})
    warpboard_regions._flush_bytes = lambda: 1 << 20


shorten()


def generate_input(rank, world_size, size, seed):
    return np.random.default_rng([seed, rank, world_size]).standard_normal(size)


def reference(inputs):
    total = 0.0
    for y in inputs:
        for _ in range(4):
            y = np.sin(y) + 0.5 * y
        total = total + y
    return total


def check_implementation(inputs, outputs):
    want = reference(inputs)
    for rank, got in enumerate(outputs):
        if type(got) is not np.ndarray or got.dtype != want.dtype or got.shape != want.shape:
            return False, f"rank {rank} has no array of {want.dtype} {want.shape}"
        if not np.array_equal(got, want):
            return False, f"rank {rank} has another sum"
    return True, ""
