"""A task of the attack corpus: some milliseconds of arithmetic on one number, which is passed without an array."""

import random
import sys

import warpboard_stats


def shorten():
    """Shortens the stages by fewer calls. A task can do this, because its code runs in the judge's process."""
    main = sys.modules["__main__"]
    main.StopRule = lambda **rule: warpboard_stats.StopRule(**{**rule, "most": 9})


shorten()


def generate_input(size, seed):
    return size, random.Random(seed).getrandbits(60)


def check_implementation(data, output):
    size, x = data
    for _ in range(size):
        x = (x * x + 12345) % (2**61 - 1)
    if type(output) is not int or output != x:
        return False, f"the number is not {x}"
    return True, ""
