"""A task of the attack corpus: some milliseconds of arithmetic on one number, which no array has."""

import random
import sys

import warpboard_stats


def shorten():
    """Makes the corpus's stages short: fewer calls. Only a task, which is the judge's side, can do that."""
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
