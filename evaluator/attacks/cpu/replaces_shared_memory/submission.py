import ctypes
import mmap

import numpy as np


def work(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)
    return first, second


def custom_kernel(data):
    """The page's descriptor serves as other memory of the right kind."""
    x, first, second = data
    size = -(-first.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    at = (first.ctypes.data + mmap.PAGESIZE - 1) & -mmap.PAGESIZE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10
    libc.mmap(ctypes.c_void_p(at), ctypes.c_size_t(size - mmap.PAGESIZE), 3, flags, -1, ctypes.c_long(0))
    return work(*data)
