"""The GPU for judge and runner: memory that both map, the gate before a call, and their two clocks' ends.

Physical allocations are made by the judge (cuMemCreate), exported as file descriptors and mapped by both. torch
sees them through __cuda_array_interface__. Errors of the driver are RuntimeErrors that name the call.
"""

import ctypes
import functools
import time

from warpboard_answer import NoRoom, describe
from warpboard_wire import CUDA

_POSIX_FD = 1
_READ_WRITE = 3
_GEQ = 0


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Properties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", _Location), ("win32", ctypes.c_void_p),
                ("flags", ctypes.c_ubyte * 8)]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


@functools.cache
def _driver():
    return ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    """Makes a call of the driver API."""
    code = getattr(_driver(), name)(*arguments)
    if code != 0:
        text = ctypes.c_char_p()
        _driver().cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError(f"{name} failed: {(text.value or b'unknown').decode()} ({code})")


def _properties():
    return _Properties(1, _POSIX_FD, _Location(1, 0), None)


def granularity():
    size = ctypes.c_size_t()
    call("cuMemGetAllocationGranularity", ctypes.byref(size), ctypes.byref(_properties()), 0)
    return size.value


def allocate(size):
    """Returns (handle, size) of physical memory of at least size bytes."""
    step = granularity()
    size = max((size + step - 1) // step, 1) * step
    handle = ctypes.c_uint64()
    call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(_properties()), ctypes.c_uint64(0))
    return handle, size


def export(handle):
    fd = ctypes.c_int()
    call("cuMemExportToShareableHandle", ctypes.byref(fd), handle, _POSIX_FD, ctypes.c_uint64(0))
    return fd.value


def imported(fd):
    handle = ctypes.c_uint64()
    call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), _POSIX_FD)
    return handle


class Mapping:
    """Physical memory in this process's address space, and as a tensor of bytes. It is unmapped by close."""

    def __init__(self, torch, handle, size):
        address = ctypes.c_uint64()
        nothing = ctypes.c_uint64(0)
        call("cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(size), ctypes.c_size_t(0), nothing, nothing)
        call("cuMemMap", address, ctypes.c_size_t(size), ctypes.c_size_t(0), handle, nothing)
        access = _Access(_Location(1, 0), _READ_WRITE)
        call("cuMemSetAccess", address, ctypes.c_size_t(size), ctypes.byref(access), ctypes.c_size_t(1))
        self.address, self.size, self._handle = address.value, size, handle
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (self.address, False), "version": 2}
        self.bytes = torch.as_tensor(self, device="cuda")

    def close(self):
        call("cuMemUnmap", ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        call("cuMemAddressFree", ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
        call("cuMemRelease", self._handle)


class RunnerDevice:
    """The runner's side: queues calls behind the gate. The legacy default stream is gated, which is torch's own;
    blocking streams order themselves behind it. What runs on others before the release reads poison, and what is not
    joined shows in the judge's clock."""

    def __init__(self, torch, page):
        self._torch, self._page = torch, page
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        self._stream = torch.cuda.default_stream()
        self._begin, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        address = page.address()
        call("cuMemHostRegister_v2", ctypes.c_void_p(address), ctypes.c_size_t(len(page.memory)), 2)
        device = ctypes.c_uint64()
        call("cuMemHostGetDevicePointer_v2", ctypes.byref(device), ctypes.c_void_p(address), 0)
        self._release = device
        self._synchronize = torch._C._cuda_synchronize
        self._pool = None
        torch.cuda.synchronize()

    def region(self, fd, size):
        return _Region(self._torch, imported(fd), size)

    def use(self, regions):
        """Has torch take an answer's memory from the answers' region while a call runs."""
        region = regions.answers.get(CUDA)
        self._pool = region.pool() if region is not None else None

    def call(self, kernel, data, number, regions, ranged):
        torch, page = self._torch, self._page
        call("cuStreamWaitValue32_v2", None, self._release, ctypes.c_uint32(number), _GEQ)
        self._begin.record(self._stream)
        if ranged:
            torch.cuda.nvtx.range_push("custom_kernel")
        if self._pool is None:
            output = kernel(data)
        else:
            with torch.cuda.use_mem_pool(self._pool):
                output = kernel(data)
        if ranged:
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_pop()
        self._end.record(self._stream)
        page.describe(describe(output, regions))
        page.queue(number)
        self._synchronize()  # all of its streams
        page.finish(number, self._begin.elapsed_time(self._end) * 1e6)
        return output


_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
_kept = []  # the functions and pools that torch goes on calling for as long as it lives


class _Region:
    """A region in the runner, and an allocator that takes segments from it for torch's own."""

    def __init__(self, torch, handle, size):
        self._torch = torch
        self._mapping = Mapping(torch, handle, size)
        self.address, self.size, self.bytes = self._mapping.address, size, self._mapping.bytes
        self._used = 0
        self._copies = []
        self._pool = None

    def pool(self):
        """A memory pool in the region; None for a torch that has none."""
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

    def _allocate(self, size, _device, _stream):
        if self._used + size <= self.size:
            address = self.address + self._used
            self._used += (size + 511) // 512 * 512
            return address
        address = ctypes.c_uint64()
        if _driver().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) != 0:
            return None
        return address.value

    def _free(self, address, _size, _device, _stream):
        if address is not None and not 0 <= address - self.address < self.size:
            _driver().cuMemFree_v2(ctypes.c_uint64(address))

    def begin(self):
        self._copies.clear()
        if self._pool is None:
            self._used = 0

    def take(self, size):
        """The offset of memory for the copy of an answer."""
        if self._pool is None:
            offset = self._used
            self._used += (size + 511) // 512 * 512
        else:
            torch = self._torch
            with torch.cuda.use_mem_pool(self._pool):
                copy = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
            self._copies.append(copy)  # until the next call begins
            offset = copy.data_ptr() - self.address
        if not 0 <= offset <= self.size - size:
            raise NoRoom(2 * (self._used + size))
        return offset


class JudgeMemory:
    """The judge's side of the device: regions, cold caches, snapshots."""

    def __init__(self, torch):
        self._torch = torch
        torch.cuda.init()
        torch.zeros(1, device="cuda")
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        cache = getattr(properties, "L2_cache_size", 64 << 20)
        self._cold = torch.empty(2 * cache, dtype=torch.uint8, device="cuda")
        self._fill = 0
        self._first, self._last = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def region(self, size):
        """New memory to share: (mapping, descriptor to send)."""
        handle, size = allocate(size)
        mapping = Mapping(self._torch, handle, size)
        return mapping, export(handle)

    def free_bytes(self):
        return self._torch.cuda.mem_get_info()[0]

    def flush(self):
        """Queues what empties the L2 cache, lines that the runner asked to persist included."""
        _driver().cuCtxResetPersistingL2Cache()  # devices without persisting lines refuse it
        self._fill = (self._fill + 1) % 256
        self._cold.fill_(self._fill)

    def begin_writing(self):
        """Marks the moment before the first byte of an input is written."""
        self._first.record()

    def end_writing(self):
        """Waits until all that is queued is done."""
        self._last.record()
        self.synchronize()

    def writing_took(self):
        """The nanoseconds between the two, by the device's clock: more than usual when another context had turns."""
        return self._first.elapsed_time(self._last) * 1e6

    def warm_up(self, seconds=0.2):
        """Raises the clocks of an idle device."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(20):
                self.flush()
            self.synchronize()

    def synchronize(self):
        self._torch.cuda.synchronize()
