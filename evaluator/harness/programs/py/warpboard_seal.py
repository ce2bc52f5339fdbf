"""The runner's gate on a device: a kernel that waits for the release, and then decrypts the sealed parts of the input and writes
them to their places (warpboard_seal.h)."""

from __future__ import annotations

import ctypes
import functools

import warpboard_core
from warpboard_cuda import call
from warpboard_limits import GATE_THREADS, RECORD_PARTS as PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def gate_ptx() -> str:
    return warpboard_core.library().warpboard_gate_ptx().decode()


class Gate:
    """Gate is the runner's gate, for the context that is current at construction. page is its address on the device;
    ready is the address of eight words of the device, 0 before the first call."""

    def __init__(self, page: ctypes.c_uint64, ready: int) -> None:
        self._page, self._ready, self._gate = page, ctypes.c_uint64(ready), function(load(gate_ptx()), "warpboard_open_gate")

    def queue(self, number: int, inputs: int, records: int, sealed: int) -> None:
        """Queues the gate of a call, with the addresses of the regions of inputs and of records, and the number of
        records."""
        parts = sealed * PARTS
        self._gate(self._page, ctypes.c_uint32(number), ctypes.c_uint64(inputs), ctypes.c_uint64(records), ctypes.c_uint32(parts), self._ready,
                   blocks=max(1, -(-parts // GATE_THREADS)), threads=GATE_THREADS)


def load(ptx: str) -> ctypes.c_void_p:
    module = ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.encode()))
    return module


def function(module: ctypes.c_void_p, name: str) -> Callable[..., None]:
    """Returns a kernel to call with its arguments as ctypes types, blocks, and threads."""
    found = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
    return functools.partial(_launch, found)


def _launch(kernel, *arguments, blocks=1, threads=1):
    """Launches on the default stream."""
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(it) for it in arguments))
    call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)
