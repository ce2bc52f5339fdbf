"""Shared memory of the host: its addresses, its pages, and the time to map it.

Small inputs are written at their call's release into memory that the runner has mapped already. Larger inputs are in
new memory, which the runner receives with the release and maps: mapping a page takes as long as copying some kilobytes.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import socket

from warpboard_limits import HOST_PAGE, HUGE_PAGE, MAPPING_HUGE_PAGE_NS, MAPPING_NS, MAPPING_PAGE_NS, MOST_WRITTEN
from warpboard_wire import INPUT, Channel, shared_memory


_READ, _WRITE, _FIXED, _NORESERVE, _POPULATE = 1, 2, 0x10, 0x4000, 0x8000
_COLLAPSE = 25  # MADV_COLLAPSE, which needs at least one small page in each huge page

_libc = ctypes.CDLL(None, use_errno=True)
_mmap, _madvise = _libc.mmap, _libc.madvise
_mmap.restype = ctypes.c_void_p
_mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def is_mapped_in_call(size: int) -> bool:
    """Reports whether inputs in a region of this size get new memory for each call."""
    return size > MOST_WRITTEN


class Mapped:
    """Mapped is shared memory, mapped at reserved addresses that are aligned for huge pages."""

    def __init__(self, fd: int, size: int) -> None:
        self.size = size
        self._space = mmap.mmap(-1, size + HUGE_PAGE, mmap.MAP_SHARED | _NORESERVE)
        begin = ctypes.addressof(ctypes.c_char.from_buffer(self._space))
        self.address = -(-begin // HUGE_PAGE) * HUGE_PAGE
        self.view = memoryview(self._space)[self.address - begin : self.address - begin + size]
        self.put(fd)

    def put(self, fd: int, populate: bool = False) -> None:
        """Maps other memory at the same addresses: existing arrays then have its data."""
        self._map(_READ | _WRITE, mmap.MAP_SHARED | (_POPULATE if populate else 0), fd)

    def let_go(self) -> None:
        """Unmaps the memory, and keeps the addresses, which then read as zeros. put is faster if nothing is mapped
        there."""
        self._map(_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE, -1)

    def _map(self, access, flags, fd):
        if _mmap(self.address, self.size, access, flags | _FIXED, fd, 0) != self.address:
            raise OSError(ctypes.get_errno(), "mmap")

    def empty(self) -> None:
        """Frees the memory, even if it is mapped elsewhere."""
        _madvise(self.address, self.size, mmap.MADV_REMOVE)

    def make_huge(self) -> bool:
        """Makes new memory consist of huge pages, which are mapped in a hundredth of the time. Returns False if the
        system does not offer them: Linux before 6.1, or a setting that denies them
        (/sys/kernel/mm/transparent_hugepage/shmem_enabled)."""
        for at in range(0, self.size, HUGE_PAGE):
            self.view[at] = 0
        return _madvise(self.address, self.size, _COLLAPSE) == 0


class Rehearsal:
    """Rehearsal sends and maps memory as a call does. Right after it, a call's own steps take a fifth of the time, and
    vary less."""

    def __init__(self) -> None:
        self._here, self._there = (Channel(end) for end in socket.socketpair())
        self._fd = shared_memory(HOST_PAGE)
        self._mapped = Mapped(self._fd, HOST_PAGE)

    def run(self) -> None:
        self._here.send(INPUT, b"", [self._fd])
        _, _, (fd,) = self._there.receive()
        self._mapped.let_go()
        self._mapped.put(fd, populate=True)
        os.close(fd)


@functools.cache
def has_huge_pages() -> bool:
    fd = shared_memory(HUGE_PAGE)
    try:
        return Mapped(fd, HUGE_PAGE).make_huge()
    finally:
        os.close(fd)


def rounded(size: int) -> int:
    """Returns the size in bytes of a region for inputs of this size: a multiple of the page size, and without unused
    pages if there are no huge pages, because mapping a page for the first time takes long."""
    step = HUGE_PAGE if is_mapped_in_call(size) and has_huge_pages() else HOST_PAGE
    return max(-(-size // step), 1) * step


def most_mapping(size: int) -> int:
    """Returns the longest time that mapping a region of this size may take, in nanoseconds."""
    if not is_mapped_in_call(size):
        return 0
    return MAPPING_NS + (MAPPING_HUGE_PAGE_NS * (size // HUGE_PAGE) if has_huge_pages() else MAPPING_PAGE_NS * (size // HOST_PAGE))
