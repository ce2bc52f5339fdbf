"""The runner's side of a GPU: the memory that it shares with the judge, and a call. warpboard_core has the judge's side.

The judge allocates physical memory (cuMemCreate) and exports it as file descriptors, and both map it. torch sees it
through __cuda_array_interface__. Errors of the driver are RuntimeErrors that name the call.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os

from warpboard_answer import NoRoom, describe, is_placed
from warpboard_layout import tensor_view
from warpboard_wire import CUDA, DONE_AT, INPUTS, SEALED, SOON_AT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Callable, Sequence
    from typing import Any

    from warpboard_runner import Regions
    from warpboard_wire import Page

_POSIX_FD = 1
_READ_WRITE = 3
_GEQ = 0
# If set, the runner copies each input and answer into a separate allocation, so that a tool such as compute-sanitizer
# detects accesses past its end.
_APART = "WARPBOARD_APART" in os.environ


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


@functools.cache
def driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    """Calls a function of the driver."""
    code = getattr(driver(), name)(*arguments)
    if code != 0:
        text = ctypes.c_char_p()
        driver().cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError(f"{name} failed: {(text.value or b'unknown').decode()} ({code})")


def release(handle: ctypes.c_uint64) -> None:
    """Releases physical memory that is no longer mapped anywhere."""
    call("cuMemRelease", handle)


def import_handle(fd: int) -> ctypes.c_uint64:
    handle = ctypes.c_uint64()
    call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), _POSIX_FD)
    return handle


def seen_by_device(address: int, size: int) -> ctypes.c_uint64:
    """Pins host memory and returns its address on the device."""
    device = ctypes.c_uint64()
    call("cuMemHostRegister_v2", ctypes.c_void_p(address), ctypes.c_size_t(size), 2)
    call("cuMemHostGetDevicePointer_v2", ctypes.byref(device), ctypes.c_void_p(address), 0)
    return device


def address_of(memory: mmap.mmap) -> int:
    """Returns the address of a host mapping."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def queue_write(word: ctypes.c_uint64, number: int, stream: ctypes.c_void_p | None = None) -> None:
    """Makes a stream (by default the default stream) write a number to a word in host memory after all its earlier
    work."""
    call("cuStreamWriteValue32_v2", stream, word, ctypes.c_uint32(number), 0)


def queue_wait(word: ctypes.c_uint64, number: int, stream: ctypes.c_void_p | None = None) -> None:
    """Makes a stream (by default the default stream) wait until a word in host memory is at least number."""
    call("cuStreamWaitValue32_v2", stream, word, ctypes.c_uint32(number), _GEQ)


class Mapping:
    """Mapping maps physical memory of a device into this process's address space, with a tensor of its bytes. close
    unmaps it."""

    def __init__(self, torch: Any, handle: ctypes.c_uint64, size: int, device: int) -> None:
        address = ctypes.c_uint64()
        nothing = ctypes.c_uint64(0)
        call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0), nothing, nothing)
        call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle, nothing)
        access = _Access(_Location(1, device), _READ_WRITE)
        call("cuMemSetAccess", address, ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
        self.address, self.size, self._handle = address.value, size, handle
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (self.address, False), "version": 2}
        self.bytes = torch.as_tensor(self, device=f"cuda:{device}")

    def close(self) -> None:
        call("cuMemUnmap", ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        call("cuMemAddressFree", ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        release(self._handle)


class RunnerDevice:
    """RunnerDevice queues a runner's calls behind the gate (warpboard_seal). The gate is on the legacy default stream,
    which is torch's default, and blocking streams wait for it. Work on other streams does not wait: before the release
    it reads wrong inputs."""

    def __init__(self, torch: Any, page: Page) -> None:
        from warpboard_seal import Gate

        self._torch, self._page = torch, page
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self._device = torch.cuda.current_device()  # the device of this process's rank
        self._stream = torch.cuda.default_stream()
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        seen = seen_by_device(page.address(), len(page.memory))
        self._soon, self._done = ctypes.c_uint64(seen.value + SOON_AT), ctypes.c_uint64(seen.value + DONE_AT)
        self._ready = torch.zeros(8, dtype=torch.int32, device="cuda")
        self._gate = Gate(seen, self._ready.data_ptr())
        # loads the kernel, which ends at once, because the page already has this release
        self._gate.queue(page.release, 0, 0, 0)
        self._synchronize = torch._C._cuda_synchronize
        self._pool: Any = None
        self._last: tuple[Any, Any] | None = None
        torch.cuda.synchronize()

    def region(self, fd: int, size: int) -> _Region:
        return _Region(self._torch, import_handle(fd), size, self._device)

    def forget(self) -> None:
        """Drops everything of the last call."""
        self._last = self._pool = None

    def use(self, regions: Regions) -> None:
        """Makes torch allocate in the answers' region while a call runs, so that answers need no copy."""
        region = regions.answers.get(CUDA)
        self._pool = region.pool() if region is not None and not _APART else None

    def queue_gate(self, number: int, regions: Regions) -> None:
        """Queues the gate, before the work of a call."""
        # otherwise the gate would share the device with the judge's work before the call
        queue_wait(self._soon, number)
        self._gate.queue(number, regions.address(INPUTS), regions.address(SEALED), self._page.sealed)
        if _APART and CUDA in regions.inputs:
            regions.inputs[CUDA].fill()

    def call(self, kernel: Callable[[Any], Any], data: Any, number: int, regions: Regions, ranged: bool) -> Any:
        torch, page = self._torch, self._page
        self._last = None
        self.queue_gate(number, regions)
        self._begin.record(self._stream)
        if ranged:
            torch.cuda.nvtx.range_push("custom_kernel")
        with contextlib.nullcontext() if self._pool is None else torch.cuda.use_mem_pool(self._pool):
            output = kernel(data)
            # The end is recorded, and "done" queued, before the pool is left and the answer described, which takes
            # longer than many kernels. Otherwise the device would have no work after a kernel that waits for it, and
            # its switch to the judge's context would count. Nothing may come between the two, because it would count
            # for such a kernel, too.
            placed = is_placed(output, regions)
            self._end.record(self._stream)
            if placed:
                queue_write(self._done, number)
        if ranged:
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_pop()
        text = describe(output, regions)
        if not placed:
            queue_write(self._done, number)
        page.describe(text)
        page.queue(number)
        self._synchronize()  # waits for all streams of the device
        page.say(self._begin.elapsed_time(self._end) * 1e6)
        # Input and answer are freed only in the next call, because freeing may queue work on the device, which would
        # delay the judge's copy.
        self._last = data, output
        return output


_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_kept: list[Any] = []  # functions and pools that torch uses until the process ends


class _Region:
    """_Region is a device region in the runner, from which torch can allocate."""

    def __init__(self, torch: Any, handle: ctypes.c_uint64, size: int, device: int) -> None:
        self._torch = torch
        self._mapping = Mapping(torch, handle, size, device)
        self.address, self.size, self.bytes = self._mapping.address, size, self._mapping.bytes
        # torch allocates from the begin of the region to _used. In a call, copies can be from _end to the region's end.
        self._used, self._end = 0, size
        self._copies: list[Any] = []
        self._apart: dict[tuple[int, int], Any] = {}
        self._views: dict[tuple[Any, ...], Any] = {}
        self._pool: Any = None

    def view(self, offset: int, span: int, key: Sequence[Any]) -> Any:
        """Returns the tensor that key describes, at an offset of the region, or with _APART in separate memory, into
        which fill queues a copy."""
        if _APART:
            if (offset, span) not in self._apart:  # views of the same memory share one copy
                self._apart[offset, span] = self._torch.empty(span, dtype=self._torch.uint8, device=self.bytes.device)
            return tensor_view(self._apart[offset, span], 0, span, key)
        place = offset, span, *key
        if place not in self._views:
            self._views[place] = tensor_view(self.bytes, offset, span, key)
        # A new object, because a kernel may change its attributes. Unlike detach(), data does not share the version
        # counter of the region: otherwise a write to one input would invalidate what autograd has kept of another.
        return self._views[place].data

    def fill(self) -> None:
        """Queues the copies of inputs with separate memory."""
        for (offset, span), own in self._apart.items():
            own.copy_(self.bytes[offset : offset + span])
        self._apart = {}

    def pool(self) -> Any:
        """Returns a torch memory pool that allocates in the region, or None if this torch has no pools."""
        torch = self._torch
        try:
            allocate, free = _ALLOCATE(self._allocate), _FREE(self._free)
            allocator = torch._C._cuda_customAllocator(
                ctypes.cast(allocate, ctypes.c_void_p).value, ctypes.cast(free, ctypes.c_void_p).value)
            self._pool = torch.cuda.MemPool(allocator)
        except (AttributeError, TypeError):
            return None
        _kept.append((allocate, free, allocator, self._pool, self))
        return self._pool

    def _allocate(self, size: int, _device: int, _stream: int | None) -> int | None:
        if self._used + size <= self._end:
            address = self.address + self._used
            self._used += (size + 511) // 512 * 512
            return address
        own = ctypes.c_uint64()
        if driver().cuMemAlloc_v2(ctypes.byref(own), ctypes.c_size_t(size)) != 0:
            return None
        return own.value

    def _free(self, address: int | None, _size: int, _device: int, _stream: int | None) -> None:
        if address is not None and not 0 <= address - self.address < self.size:
            driver().cuMemFree_v2(ctypes.c_uint64(address))

    def close(self) -> None:
        self._copies.clear()
        self._views.clear()
        self.bytes = self._mapping.bytes = None
        self._mapping.close()

    def begin(self) -> None:
        self._copies.clear()
        self._end = self.size
        if self._pool is None:
            self._used = 0

    def take(self, size: int) -> int:
        """Allocates memory for the copy of an answer, and returns its offset. Raises NoRoom if the region is full."""
        if self._pool is None:
            offset = self._used
            self._used += (size + 511) // 512 * 512
        else:
            torch = self._torch
            with torch.cuda.use_mem_pool(self._pool):
                copy = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
            offset = copy.data_ptr() - self.address
            if 0 <= offset <= self.size - size:
                self._copies.append(copy)  # keeps the memory until the next call begins
            else:  # torch has a free block outside of the region
                self._end -= (size + 511) // 512 * 512
                offset = self._end
        if not 0 <= offset <= self.size - size or self._used > self._end:
            raise NoRoom(2 * (self._used + size))
        return offset
