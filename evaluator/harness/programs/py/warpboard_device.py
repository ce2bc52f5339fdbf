"""What a task's calls run on: a CUDA device through torch, or the host.

A device clones inputs, poisons memory in which an old answer could be found, flushes caches, and
takes the time of one call in nanoseconds. Clocks and events are bound here, before the submission is
imported.
"""

import contextlib
import copy
import ctypes
import importlib.util
import os
import sys
from time import perf_counter_ns

from warpboard_answer import require_plain


def choose():
    """The GPU when the task uses torch and there is one, else the host. Call it after the
    reference has been imported and before the submission is."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return Cuda(torch)
    return Host()


def clone(data):
    """Copies tensors and arrays at any depth of tuples, lists and dicts."""
    if isinstance(data, tuple):
        parts = [clone(item) for item in data]
        return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
    if isinstance(data, list):
        return [clone(item) for item in data]
    if isinstance(data, dict):
        return {key: clone(value) for key, value in data.items()}
    if hasattr(data, "clone"):
        return data.clone()
    return copy.deepcopy(data)


def leaves(data):
    """Yields the tensors and arrays in nested tuples, lists and dicts."""
    if isinstance(data, (tuple, list)):
        for item in data:
            yield from leaves(item)
    elif isinstance(data, dict):
        for item in data.values():
            yield from leaves(item)
    elif hasattr(data, "nbytes"):
        yield data


class Host:
    """The CPU: calls are made and timed in a process apart, caches overwritten before every timed one."""

    apart = True

    warm_up_ns = 0  # one call

    _largest_reused = 32 << 20  # bytes; the largest that malloc serves from memory freed before

    def __init__(self):
        self._cold = bytearray(_flush_bytes())
        self.cold_bytes = len(self._cold)
        self.cold_address = ctypes.addressof(ctypes.c_char.from_buffer(self._cold))
        # malloc maps large blocks anew each time, until it has seen one this large being freed.
        bytearray(self._largest_reused - (64 << 10))
        self._sizes = set()
        self._numpy = None
        if importlib.util.find_spec("numpy") is not None:
            import numpy

            self._numpy = numpy

    clone = staticmethod(clone)

    def remember(self, output):
        """Notes how big an answer is: blocks of that size are poisoned before the next call."""
        self._sizes.update(item.nbytes for item in leaves(output))

    def poison(self):
        """Fills what the allocator would hand out for an answer with 0xFF (NaN). Bigger blocks come
        from the system, which clears them."""
        if self._numpy is not None:
            for size in self._sizes:
                if size <= self._largest_reused:
                    blocks = [self._numpy.full(size, 0xFF, dtype="uint8") for _ in range(4)]
                    del blocks


class Cuda:
    """A GPU by torch: events around the call, with work queued ahead so that launching is not what is
    measured, and the L2 cache flushed, persisting lines too."""

    apart = False
    warm_up_ns = 200e6

    _longest_hold_ns = 1e6  # a call that waits for the device needs no hold
    _idle_sync_ns = 100e3  # well above what synchronising an idle device takes

    def __init__(self, torch):
        self._torch = torch
        self._stream = torch.cuda.current_stream()
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)
        self._synchronize = torch.cuda.synchronize
        self._record, self._elapsed = torch.cuda.Event.record, torch.cuda.Event.elapsed_time
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        cache = getattr(properties, "L2_cache_size", 64 << 20)
        self._cold = torch.empty(2 * cache, dtype=torch.uint8, device="cuda")
        self._fill = 0
        self._hold_ns = 100e3
        self._cycles_per_ns = getattr(properties, "clock_rate", 1_900_000) / 1e6
        self._reset_persisting = _persisting_reset()
        self._sizes = set()

    clone = staticmethod(clone)

    def synchronize(self):
        self._synchronize()

    def remember(self, output):
        """Notes how big an answer is: blocks of that size are poisoned before the next call."""
        self._sizes.update(item.nbytes for item in leaves(output))

    def poison(self):
        """Fills every free block that torch's allocator would hand out for an answer with 0xFF
        (NaN), and leaves the blocks with the allocator: the timed call needs no cudaMalloc."""
        torch = self._torch
        for size in self._sizes:
            blocks = []
            reserved = torch.cuda.memory_reserved()
            try:
                while len(blocks) < 32 and torch.cuda.memory_reserved() == reserved:
                    blocks.append(torch.full((max(size, 1),), 0xFF, dtype=torch.uint8, device="cuda"))
            except torch.cuda.OutOfMemoryError:
                pass  # no free block of this size is left
            del blocks
        self._synchronize()

    def time(self, kernel, data, clock=perf_counter_ns):
        """Queues, without waiting: a hold that covers the host's part of the call, the flush, the
        first event, the call, the second event. Work that the call left on other streams counts:
        what the device still does after the second event is added."""
        self._synchronize()
        if self._reset_persisting is not None:
            self._reset_persisting()
        self._torch.cuda._sleep(int(self._hold_ns * self._cycles_per_ns))
        self._fill = (self._fill + 1) % 256
        self._cold.fill_(self._fill)
        self._record(self._begin, self._stream)
        host_begin = clock()
        output = kernel(data)
        host_ns = clock() - host_begin
        self._record(self._end, self._stream)
        self._end.synchronize()
        tail_begin = clock()
        self._synchronize()
        tail_ns = clock() - tail_begin

        duration = self._elapsed(self._begin, self._end) * 1e6
        self._hold_ns = min(1.5 * host_ns, self._longest_hold_ns)
        if tail_ns > max(self._idle_sync_ns, 0.1 * duration):
            duration += tail_ns
        return output, duration

    @contextlib.contextmanager
    def range(self, name):
        self._torch.cuda.nvtx.range_push(name)
        try:
            yield
        finally:
            self._torch.cuda.nvtx.range_pop()


class Here:
    """The kernel in the judge's own process, where the device's memory is."""

    def __init__(self, device):
        self._device = device

    def open(self):
        from submission import custom_kernel  # last: nothing of ours is looked up after it

        self._kernel = custom_kernel

    def give(self, data):
        """Makes data what the next calls get a copy of."""
        self._data = data

    def call(self):
        own = self._device.clone(self._data)
        self._device.poison()
        output = self._kernel(own)
        self._device.synchronize()
        return self._answer(output)

    def time(self):
        """Returns the answer and the nanoseconds that it took, caches cold."""
        own = self._device.clone(self._data)
        self._device.poison()
        output, duration = self._device.time(self._kernel, own)
        return self._answer(output), duration

    def ranged_call(self):
        """One call inside a range that profilers know by the name custom_kernel."""
        own = self._device.clone(self._data)
        with self._device.range("custom_kernel"):
            output = self._kernel(own)
            self._device.synchronize()
        return self._answer(output)

    def _answer(self, output):
        require_plain(output)
        self._device.remember(output)
        return output


def _flush_bytes():
    """Twice the last-level cache, within what is sensible when the system does not tell it or tells
    that of a whole socket."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        cache = 0
    return min(max(2 * cache, 16 << 20), 64 << 20)


def _persisting_reset():
    """The driver's call that drops persisting lines from L2, which no flush evicts."""
    try:
        return ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache
    except (OSError, AttributeError):
        return None
