import ctypes
import os

import numpy as np


def work(x, first, second):
    y = x
    for _ in range(3):
        y = np.sin(y) + 0.5 * y
    np.add(np.sin(y), 0.5 * y, out=first)
    np.multiply(first, first, out=second)
    return first, second


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def copied(x):
    """A copy by the system, of this process's own memory."""
    out = np.empty_like(x)
    theirs, ours = Piece(x.ctypes.data, x.nbytes), Piece(out.ctypes.data, out.nbytes)
    got = ctypes.CDLL(None).process_vm_readv(os.getpid(), ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
    return out if got == x.nbytes else x


def custom_kernel(data):
    x, first, second = data
    return work(copied(x), first, second)
