"""The runner's gate on a device: a kernel that waits for the release, and then decrypts the sealed (encrypted) parts of
the input and writes them to where the input has them (warpboard_seal.h)."""

from __future__ import annotations

import ctypes
import functools

import warpboard_core
from warpboard_cuda import call
from warpboard_limits import GATE_THREADS, RECORD_PARTS as PARTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def gate_ptx() -> str:
    return warpboard_core.library().warpboard_gate_ptx().decode()


class Gate:
    """Gate is the runner's gate, for the context that is current at construction. page is the page's address on the
    device; ready is the address of eight words of device memory, which must be 0 before the first call."""

    def __init__(self, page: ctypes.c_uint64, ready: int) -> None:
        self._kernel = kernel(load(gate_ptx()), "warpboard_open_gate")
        self._number, self._inputs, self._records, self._parts = ctypes.c_uint32(), ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint32()
        self._page, self._ready = page, ctypes.c_uint64(ready)
        self._arguments = pointers(self._page, self._number, self._inputs, self._records, self._parts, self._ready)

    def queue(self, number: int, inputs: int, records: int, sealed: int) -> None:
        """Queues the gate of a call. inputs and records are the addresses of these regions; sealed is the number of
        records."""
        parts = sealed * PARTS
        self._number.value, self._inputs.value, self._records.value, self._parts.value = number, inputs, records, parts
        launch(self._kernel, self._arguments, max(1, -(-parts // GATE_THREADS)), GATE_THREADS)


@functools.cache  # a prepared process has loaded the gate before its stage
def load(ptx: str) -> ctypes.c_void_p:
    """Loads PTX into the current context, and returns the module. The driver compiles it, which takes milliseconds."""
    module = ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.encode()))
    return module


def kernel(module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
    found = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
    return found


def pointers(*arguments: Any) -> ctypes.Array[ctypes.c_void_p]:
    """Returns pointers to a kernel's arguments, which are ctypes objects that must live until the launch."""
    return (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(it) for it in arguments))


def launch(kernel: ctypes.c_void_p, arguments: ctypes.Array[ctypes.c_void_p], blocks: int = 1, threads: int = 1) -> None:
    """Launches a kernel on the default stream."""
    call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, None, arguments, None)


def function(module: ctypes.c_void_p, name: str) -> Callable[..., None]:
    """Returns a function that launches a kernel. Its arguments are the kernel's as ctypes values, and blocks and
    threads."""
    found = kernel(module, name)
    return lambda *arguments, blocks=1, threads=1: launch(found, pointers(*arguments), blocks, threads)
