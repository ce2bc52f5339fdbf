"""The judge's side of the GPU: memory to share, cold caches, copies of answers, and a sample of them."""

from __future__ import annotations

import ctypes
import mmap
import secrets
import time

from warpboard_cuda import Mapping, address_of, allocate, call, driver, export, queue_wait, queue_write, release, seen_by_device
from warpboard_hold import Hold
from warpboard_limits import COPY_LIMIT_NS, MOST_SAMPLE_PITCH, MOST_WAITING_ARRAYS, SAMPLE_ROW_BYTES, SAMPLE_ROWS, SAMPLE_STEP
from warpboard_wire import DONE_AT, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from warpboard_wire import Page

_MOST_SPACE = 64 << 20  # largest distance from other shared memory
# Words of the gate's page to which the device writes the number of the last sample and of the last copies.
_SAMPLED, _COPIED = 32, 64
# Texts in errors of torch, CUDA, and its libraries.
_NO_MEMORY = ("CUDACachingAllocator", "out of memory", "ALLOC_FAILED")
_NOT_READY = 600  # CUDA_ERROR_NOT_READY

_MOST_SIZES = 1024  # of remembered calls' arrays
_LOOKS = 1 << 16  # between two checks of the device for failures



class _Rows(ctypes.Structure):
    """CUDA_MEMCPY2D: rows of bytes, each a pitch behind the one before."""

    _fields_ = [("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("type", ctypes.c_uint), ("host", ctypes.c_void_p),
                ("device", ctypes.c_uint64), ("array", ctypes.c_void_p), ("pitch", ctypes.c_size_t),
                ("to_x", ctypes.c_size_t), ("to_y", ctypes.c_size_t), ("to_type", ctypes.c_uint), ("to_host", ctypes.c_void_p),
                ("to_device", ctypes.c_uint64), ("to_array", ctypes.c_void_p), ("to_pitch", ctypes.c_size_t),
                ("width", ctypes.c_size_t), ("height", ctypes.c_size_t)]


class Sample:
    """Sample has some bytes of an answer, from unpredictable places all over it, and the last ones: a sum is often
    written there last. A copy engine waits for the runner's "done" itself, and takes them 4 to 10 µs after that. The
    whole answer is copied some 150 µs later, when the device has switched to the judge's context, and the runner's
    queued work is done by then: the sample lacks late writes."""

    _ROWS, _WIDTH, _STEP, _MOST_PITCH = SAMPLE_ROWS, SAMPLE_ROW_BYTES, SAMPLE_STEP, MOST_SAMPLE_PITCH

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, (self._ROWS + 1) * self._WIDTH)
        self._later = mmap.mmap(-1, (self._ROWS + 1) * self._WIDTH)
        for memory in (self._memory, self._later):
            seen_by_device(address_of(memory), len(memory))
        self._stream = ctypes.c_void_p()
        call("cuStreamCreate", ctypes.byref(self._stream), 1)  # does not wait for other streams
        self._copy: Any = None  # or (place in the copy, pitch, width, height, place of the last bytes or None)

    def queue(self, copy: tuple[int, int, int] | None, gate: ctypes.c_uint64, opened: int, word: ctypes.c_uint64,
              number: int) -> None:
        """Queues the sample of a copy (to, from, bytes) behind a gate, which is open from the value opened on, and then
        a write of the number to a word. Does nothing for None."""
        self._copy = None
        if copy is None:
            return
        to, source, size = copy
        height = self._ROWS if size >= self._ROWS * self._WIDTH else 1
        pitch = min(size // height // self._STEP * self._STEP, self._MOST_PITCH) if height > 1 else size
        width = min(self._WIDTH if height > 1 else self._ROWS * self._WIDTH, pitch)
        skip = secrets.randbelow((size - (height - 1) * pitch - width) // self._STEP + 1) * self._STEP
        self._copy = to + skip, pitch, width, height, to + size - self._WIDTH if height > 1 else None
        queue_wait(gate, opened, self._stream)
        call("cuMemcpy2DAsync_v2", ctypes.byref(self._rows(source + skip, self._memory)), self._stream)
        if height > 1:
            call("cuMemcpyDtoHAsync_v2", self._tail(self._memory), ctypes.c_uint64(source + size - self._WIDTH), ctypes.c_size_t(self._WIDTH), self._stream)
        queue_write(word, number, self._stream)

    def is_queued(self) -> bool:
        """Reports whether there is a sample."""
        return self._copy is not None

    def idle(self) -> bool:
        """Reports whether the sample has been taken."""
        code = driver().cuStreamQuery(self._stream)
        if code not in (0, _NOT_READY):
            raise RuntimeError(f"the device failed when a sample of the answer was taken ({code})")
        return code == 0

    def differs(self) -> bool:
        if self._copy is None:
            return False
        call("cuStreamSynchronize", self._stream)
        first, _, width, height, last = self._copy
        call("cuMemcpy2D_v2", ctypes.byref(self._rows(first, self._later)))
        end = width * height
        if last is not None:
            call("cuMemcpyDtoH_v2", self._tail(self._later), ctypes.c_uint64(last), ctypes.c_size_t(self._WIDTH))
            end += self._WIDTH
        return self._memory[:end] != self._later[:end]

    def _tail(self, memory: mmap.mmap) -> ctypes.c_void_p:
        """Returns the place of the last bytes, behind the rows."""
        return ctypes.c_void_p(address_of(memory) + self._copy[2] * self._copy[3])

    def _rows(self, source: int, memory: mmap.mmap) -> _Rows:
        _, pitch, width, height, _ = self._copy
        return _Rows(0, 0, 2, None, source, None, pitch, 0, 0, 1, address_of(memory), 0, None, width, width, height)


def _choose_sample(copies: list[tuple[int, int, int]]) -> tuple[int, int, int] | None:
    """Chooses the copy (to, from, bytes) to sample: the largest, and in half of the calls any, so that a late write to
    any part is found in some call."""
    if not copies:
        return None
    return secrets.choice(copies) if secrets.randbelow(2) else max(copies, key=lambda copy: copy[2])


class JudgeMemory:
    """JudgeMemory is the judge's side of a device: regions, cold caches, snapshots. If there are several devices, here
    makes the one with its number the current one; all other methods use the current device."""

    def __init__(self, torch: Any, number: int | None = None) -> None:
        self._torch, self._device = torch, number
        torch.cuda.init()
        self.make_current()
        torch.zeros(1, device="cuda")
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
        cache = getattr(properties, "L2_cache_size", 64 << 20)
        self.cold = True  # each call begins with cold caches
        self._cold = torch.empty(2 * cache, dtype=torch.uint8, device="cuda")
        self._fill = 0
        self._kept = torch.empty(Hold.ROOM, dtype=torch.uint8, device="cuda")
        self._hold = Hold(self._cold.data_ptr(), self._kept.data_ptr())
        self._gate = mmap.mmap(-1, mmap.PAGESIZE)
        self._gate_seen = seen_by_device(address_of(self._gate), mmap.PAGESIZE)
        self._gate_word = memoryview(self._gate).cast("I")
        self._sampled_seen, self._copied_seen = (ctypes.c_uint64(self._gate_seen.value + 4 * word) for word in (_SAMPLED, _COPIED))
        self._number = 0
        self._pages: dict[object, ctypes.c_uint64] = {}  # the device's addresses of runners' words, by page
        self._written: set[tuple[int, ...]] = set()  # sizes of the arrays of calls
        self._sample = Sample()
        # The tests passed with the available memory: a runner chooses the size of its answers.
        self.blames_runner = False

    def make_current(self) -> None:
        if self._device is not None:
            self._torch.cuda.set_device(self._device)

    def queue_copies(self, copies: list[tuple[int, int, int]], page: Page | None = None,
                     ends: int | None = None) -> None:
        """Queues copies of (to, from, bytes) behind the judge's gate, which a store opens when the runner is done.
        Launched only then, they would give the runner the time that Python needs for it. A sample waits for the end of
        a call on the runner's page, if there is one."""
        self._number += 1
        behind = (self._gate_seen, self._number) if ends is None else (self._pages[page], ends)
        self._sample.queue(_choose_sample(copies), *behind, self._sampled_seen, self._number)
        queue_wait(self._gate_seen, self._number)
        for to, source, size in copies:
            call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(size), None)
        queue_write(self._copied_seen, self._number)

    def watch(self, page: Page) -> None:
        """Lets the device see the ends of a runner's calls."""
        self._pages[page] = ctypes.c_uint64(seen_by_device(page.address(), mmap.PAGESIZE).value + DONE_AT)

    def forget(self, page: Page) -> None:
        """Unregisters the page of a runner that has ended."""
        del self._pages[page]
        call("cuMemHostUnregister", ctypes.c_void_p(page.address()))

    def wait_sampled(self) -> bool:
        """Waits until the queued sample has been taken. Returns False without a sample."""
        if not self._sample.is_queued():
            return False
        self._wait(_SAMPLED, self._sample.idle)
        return True

    def wait_copied(self) -> None:
        """Waits until the queued copies have ended. On some H100s a synchronization returns 10 µs later than the copies end, in
        one process and not in the next."""
        self._wait(_COPIED, self._torch.cuda.current_stream().query)

    def _wait(self, word: int, idle: Callable[[], bool]) -> None:
        """Waits for a word of the gate's page. idle reports whether its writer has ended, and raises if the device
        failed."""
        words, number, end = self._gate_word, self._number, time.perf_counter_ns() + COPY_LIMIT_NS
        while True:
            for _ in range(_LOOKS):
                if words[word] == number:
                    return
            if idle() and words[word] != number:
                raise RuntimeError("the device did not say that the answer had been copied")
            if time.perf_counter_ns() > end:
                raise Refused(f"The device could not copy the answer within {COPY_LIMIT_NS / 1e9:.0f} s after the runner was done with it.")

    def open_gate(self) -> None:
        """Releases the queued work. Nothing else of this context runs before that."""
        self._gate_word[0] = self._number

    def changed(self) -> bool:
        """Reports whether the last copy differs from the sample right after the runner's "done"."""
        return self._sample.differs()

    def region(self, size: int) -> tuple[Mapping, int]:
        """Returns new memory to share: (mapping, descriptor to send). It has another place than the last: the place of
        its arrays makes a kernel of 5 µs quicker or slower by a percent, and with the same place in all processes a
        run's processes would agree with each other more than with the next run's."""
        device = self._device or 0
        space, _ = allocate(secrets.randbelow(_MOST_SPACE) + 1, device)
        handle, size = allocate(size, device)
        release(space)
        mapping = Mapping(self._torch, handle, size, device)
        mapping.bytes.fill_(0xFF)
        return mapping, export(handle)

    def free_bytes(self) -> int:
        return self._torch.cuda.mem_get_info()[0]

    def starved(self, error: BaseException | None) -> bool:
        """Reports whether an error means missing memory although this process has less than a third of the device's. If
        torch cannot ask NVML for the free memory, its allocator fails with another error."""
        cuda = self._torch.cuda
        none_left = isinstance(error, cuda.OutOfMemoryError) or (isinstance(error, RuntimeError) and any(it in str(error) for it in _NO_MEMORY))
        return none_left and (self.blames_runner or cuda.memory_reserved() <= cuda.mem_get_info()[1] / 3)

    def flush(self) -> None:
        """Queues the flush of the L2 cache, if calls must begin with cold caches."""
        if self.cold:
            self._overwrite()

    def _overwrite(self):
        self._fill = (self._fill + 1) % 256
        self._cold.fill_(self._fill)

    SEALED = Hold.SEALED

    def divide(self, arrays: list[tuple[Any, Any]], inputs: int) -> int:
        """Determines the sealed arrays of an input: arrays are (place in the runner, the judge's own), tensors of bytes, and
        inputs is the address of the region. Returns the number of records."""
        return self._hold.divide([(to.data_ptr(), own.data_ptr(), own.numel()) for to, own in arrays], inputs)

    def choose_sealed(self) -> None:
        """Chooses the sealed parts of the last input."""
        self._hold.choose()

    def can_wait(self, arrays: list[tuple[Any, Any]]) -> bool:
        """Reports whether the device can wait until everything is queued for a call with these arrays. It cannot if
        such sizes are written for the first time: loading a kernel may wait for the device. Two kernels that take turns
        may have different sizes. Call it before block."""
        driver().cuCtxResetPersistingL2Cache()  # lines of the runner; devices without persisting lines refuse the call
        sizes = tuple(own.numel() for _, own in arrays)
        known = sizes in self._written
        if len(self._written) >= _MOST_SIZES:
            self._written.clear()
        self._written.add(sizes)
        return known and len(arrays) <= MOST_WAITING_ARRAYS

    def block(self) -> None:
        """Makes the device wait for start. Until then, call nothing that waits for the device."""
        self._hold.block()

    def write(self, arrays: list[tuple[Any, Any]], number: int, records: int) -> None:
        """Queues copies of the arrays, except the parts sealed in records, the address of a region. The timing of the
        preparation starts here."""
        self._hold.begin(number, records)
        for to, own in arrays:
            if to.data_ptr() not in self._hold.whole:
                to.copy_(own)
                continue
            to.fill_(0xFF)
            if (end := own.numel() // 4 * 4) < own.numel():
                to[end:].copy_(own[end:])

    @property
    def key(self) -> tuple[int, ...]:
        """Returns the key of the sealed parts."""
        return self._hold.key

    def start(self) -> None:
        """Starts the queued work."""
        self._hold.start()

    def hold(self) -> None:
        """Queues the kernel that keeps the device until let_go."""
        self._hold.queue()

    def wait_held(self) -> None:
        """Waits until all is written, and the device is kept."""
        if not self._hold.wait_running():
            self.synchronize()
            raise RuntimeError("the device did not come to the judge's last kernel before a release")

    def let_go(self) -> None:
        """Ends the kernel that keeps the device."""
        self._hold.let_go()

    def writing_took(self) -> float:
        """Returns the nanoseconds from the first byte to let_go: more than usual if another context had turns. Call it
        after the call."""
        return float(self._hold.duration())

    def warm_up(self, seconds: float = 0.2) -> None:
        """Raises the clocks of an idle device."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(20):
                self._overwrite()
            self.synchronize()

    def synchronize(self) -> None:
        self._torch.cuda.synchronize()
