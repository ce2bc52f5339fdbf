import numpy as np


def custom_kernel(data):
    values, kind = data
    values.sort()
    return values if kind == "up" else values[::-1]
