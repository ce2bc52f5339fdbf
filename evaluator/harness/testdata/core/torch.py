"""As much of torch as the judge uses, on the devices that gpu/driver.cpp pretends: their memory is the host's."""

import ctypes
import types

import numpy


class dtype:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "torch." + self.name


uint8, float32, strided = dtype("uint8"), dtype("float32"), object()
_kept = []  # a device may still write to memory that nothing refers to


class Tensor:
    layout, is_quantized, requires_grad = strided, False, False
    device = types.SimpleNamespace(type="cuda")

    def __init__(self, array, kind=uint8):
        self.array, self.dtype, self.shape = array, kind, array.shape
        _kept.append(array)

    def detach(self):
        return self

    resolve_conj = resolve_neg = detach

    def is_conj(self):
        return False

    is_neg = is_conj

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def element_size(self):
        return self.array.itemsize

    def data_ptr(self):
        return self.array.ctypes.data

    def view(self, kind):
        return Tensor(self.array.view(kind.name), kind)

    def as_strided(self, shape, strides):
        steps = [step * self.array.itemsize for step in strides]
        return Tensor(numpy.lib.stride_tricks.as_strided(self.array, shape, steps), self.dtype)


nn = types.SimpleNamespace(Parameter=type("Parameter", (Tensor,), {}))


def empty(size, dtype=float32, device="cuda"):
    return Tensor(numpy.empty(size, dtype.name), dtype)


zeros = empty


class cuda:
    OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {})

    def init():
        pass

    def set_device(number):
        driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), number)
        driver.cuCtxSetCurrent(context)

    def mem_get_info():
        return 1 << 30, 1 << 30

    def memory_reserved():
        return 0

    def synchronize():
        ctypes.CDLL("libcuda.so.1").cuCtxSynchronize()
