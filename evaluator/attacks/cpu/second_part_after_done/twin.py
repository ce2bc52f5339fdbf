import numpy as np


def custom_kernel(data):
    x, twice, squares = data
    np.multiply(x, 2, out=twice)
    np.einsum("ij,ij->i", x, x, out=squares)
    return twice, squares
