"""The memory that the judge shares with a runner: regions by role and kind, and cold caches of the host."""

from __future__ import annotations

import ctypes
import functools
import os
import resource

from warpboard_core import HostInput
from warpboard_host import Mapped, Rehearsal, has_huge_pages, is_mapped_in_call, most_mapping, rounded
from warpboard_limits import LEAST_FLUSH, MOST_ANSWERS, MOST_FLUSH
from warpboard_wire import ANSWERS, CUDA, HOST, INPUTS, pack_case, shared_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from warpboard_answer import Part
    from warpboard_judge_cuda import JudgeMemory

_ROLES = {INPUTS: "inputs", ANSWERS: "answers"}


class HostMemory:
    """HostMemory makes regions in host memory, and flushes the caches of the CPU."""

    def __init__(self) -> None:
        self._cold = bytearray(_flush_bytes())
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._cold))
        self._fill = 0

    @functools.cached_property
    def _rehearsal(self):
        return Rehearsal()

    def rehearse(self) -> None:
        self._rehearsal.run()

    @staticmethod
    def most_bytes() -> int:
        """Returns the size of the largest answer that the judge can copy and compare: a quarter of the file size limit,
        which equals the memory of the judge."""
        limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        return MOST_ANSWERS if limit == resource.RLIM_INFINITY else limit // 4

    def flush(self) -> None:
        self._fill = (self._fill + 1) % 256
        ctypes.memset(self._address, self._fill, len(self._cold))

    @staticmethod
    def region(size: int) -> tuple[Mapped, int]:
        """Returns new memory to share: (mapping, descriptor to send)."""
        fd = shared_memory(size)
        return Mapped(fd, size), fd


class Regions:
    """Regions is the shared memory, by (role, kind). If a case needs more, all of it is replaced."""

    def __init__(self, host: HostMemory, cuda: JudgeMemory | None) -> None:
        self._host, self._cuda = host, cuda
        self.memory: dict[tuple[int, int], Any] = {}
        self.bytes: dict[tuple[int, int], int] = {}
        self._descriptors: dict[tuple[int, int], int] = {}
        self._mapped: dict[tuple[int, int], Mapped] = {}  # regions in host memory
        self._kept = bytearray()  # a small input, which is written to the runner's memory at the release
        self._exact = False
        self.version = 0

    def wipe(self) -> None:
        """Frees the memory before the next runner starts, because the previous one can have left data in it, in its
        size, or in the offset of its file. A device's memory is overwritten and kept if the device has too little free
        memory for another allocation."""
        if self._cuda is not None:
            self._cuda.make_current()
        for key, memory in list(self.memory.items()):
            if key[1] != CUDA:
                self._mapped[key].empty()
            elif self._cuda is not None and self._cuda.free_bytes() <= 2 * memory.size:
                memory.poison(0, memory.size)
                continue
            self._drop(key)

    def close(self) -> None:
        """Frees all memory. If the judge's own runner has mapped it, call its forget, too."""
        for key in list(self.memory):
            self._drop(key)

    def _drop(self, key: tuple[int, int]) -> None:
        memory = self.memory.pop(key)
        if key[1] == CUDA:
            memory.close()
        else:
            self._mapped.pop(key)
        os.close(self._descriptors.pop(key))
        del self.bytes[key]

    def need(self, wanted: dict[tuple[int, int], int]) -> None:
        """Makes each region at least as large as requested."""
        if self._is_wide(wanted):
            del self.bytes[INPUTS, HOST]
        if all(self.bytes.get(key, -1) >= size for key, size in wanted.items()):
            return
        for key in {**self.bytes, **wanted}:
            size = max(wanted.get(key, 0), self.bytes.get(key, 0))
            if key in self._descriptors:
                os.close(self._descriptors.pop(key))
            self._renew(key, size)
        self.version += 1

    def begin_case(self) -> None:
        """Makes the next call of need replace input memory that is larger than needed, so that a call maps no extra
        pages."""
        self._exact = self._cuda is None

    def _is_wide(self, wanted: dict[tuple[int, int], int]) -> bool:
        exact, self._exact = self._exact, False
        has = self.bytes.get((INPUTS, HOST), 0)
        return exact and is_mapped_in_call(has) and has > rounded(wanted.get((INPUTS, HOST), has))

    def _renew(self, key: tuple[int, int], size: int) -> None:
        old = self.memory.pop(key, None)
        if key[1] == CUDA and self._cuda is not None:
            if old is not None:
                old.close()
            self.memory[key], self._descriptors[key] = self._cuda.core.region(size)
            self.bytes[key] = self.memory[key].size
        else:
            if old is not None:
                # frees the pages, because a runner that keeps them mapped could use up the judge's memory
                self._mapped[key].empty()
            self._mapped[key], self._descriptors[key] = self._host.region(rounded(size))
            self.memory[key] = self._mapped[key].view
            self.bytes[key] = len(self.memory[key])

    def renew_input(self) -> memoryview | bytearray:
        """Returns memory for host inputs that the runner does not have before the release. The pages of the old memory
        are freed, because a runner that keeps them mapped could use up the judge's memory."""
        key, size = (INPUTS, HOST), self.bytes[INPUTS, HOST]
        if not is_mapped_in_call(size):
            self._kept = bytearray(size)
            return self._kept
        self._mapped[key].empty()
        os.close(self._descriptors[key])
        self._descriptors[key] = shared_memory(size)
        self._mapped[key].put(self._descriptors[key])
        if has_huge_pages():
            self._mapped[key].make_huge()
        return self.memory[key]

    def rehearse(self) -> None:
        """Warms the caches for passing the input to the runner."""
        bytes(self._kept)
        self._host.rehearse()

    def host_input(self, description: bytes) -> HostInput:
        """Returns the input to pass to a runner on the host, with its description if that was not sent before. At the
        release, a small input is copied to memory that the runner has, and the descriptor of a large input's memory is
        sent."""
        size = self.bytes[INPUTS, HOST]
        if is_mapped_in_call(size):
            return HostInput(None, None, 0, description, len(description), self._descriptors[INPUTS, HOST])
        source = ctypes.addressof((ctypes.c_char * size).from_buffer(self._kept))
        return HostInput(self._mapped[INPUTS, HOST].address, source, size, description, len(description), -1)

    def most_mapping(self) -> int:
        """Returns the longest time to map the host's inputs, in nanoseconds."""
        return 0 if self._cuda is not None else most_mapping(self.bytes[INPUTS, HOST])

    def poison(self, part: Part) -> None:
        """Overwrites a part of the last answer, if its memory still exists."""
        memory, end = self.memory[ANSWERS, part.kind], part.offset + part.size
        if part.kind == CUDA:
            if end <= memory.size:
                memory.poison(part.offset, part.size)
        elif end <= len(memory):
            ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(memory, part.offset)), 0xFF, part.size)

    def case(self) -> tuple[bytes, list[int]]:
        """Returns the payload and the descriptors of the CASE frame that describes these regions."""
        layout = [(kind, role, self.bytes[role, kind]) for role, kind in self._descriptors]
        return pack_case(layout), list(self._descriptors.values())

    def sizes(self) -> dict[tuple[str, int], int]:
        return {(_ROLES[role], kind): size for (role, kind), size in self.bytes.items() if role in _ROLES}


def _flush_bytes():
    """Returns twice the size of the last-level cache in bytes, limited to a sensible range, because the system may
    report no size, or the size for a whole socket."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        cache = 0
    return min(max(2 * cache, LEAST_FLUSH), MOST_FLUSH)
