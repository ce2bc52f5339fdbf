"""The judge's core, by ctypes: a shared library that the worker compiles from core/warpboard_core.cpp, which describes its
functions. Times are in nanoseconds on the judge's clock."""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint32, c_void_p

from warpboard_wire import PAGE_SIZE, Refused, RunnerGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from warpboard_wire import Channel, Page

_FAILED, _REFUSED, _GONE = 1, 2, 3


class _Copy(ctypes.Structure):
    """The struct WrittenArray of warpboard_shared.h."""

    _fields_ = [("to", c_void_p), ("source", c_void_p), ("bytes", c_size_t)]


class Times(ctypes.Structure):
    """The struct CoreTimes: switched is the time that the devices took to switch to the runners; the others are times
    on the judge's clock: of the release, the end of the last call, and the samples of all answers."""

    _fields_ = [("switched", c_double), ("released", c_double), ("done", c_double), ("sampled", c_double)]


class HostInput(ctypes.Structure):
    """The struct HostInput of warpboard_core.cpp: an input of a call on a host."""

    _fields_ = [("to", c_void_p), ("source", c_void_p), ("bytes", c_size_t), ("description", c_char_p),
                ("description_bytes", c_size_t), ("descriptor", c_int)]


_PARAMETERS: dict[str, list[Any]] = {
    "open_device": [POINTER(c_void_p)],
    "make_region": [c_void_p, POINTER(c_size_t), POINTER(c_void_p), POINTER(c_int)],
    "drop_region": [c_void_p, c_void_p, c_size_t],
    "poison": [c_void_p, c_void_p, c_size_t],
    "flush": [c_void_p],
    "open_runner": [c_void_p, c_int, c_void_p, c_size_t, POINTER(c_void_p)],
    "close_runner": [c_void_p],
    "begin_case": [c_void_p],
    "forget_answer": [c_void_p],
    "leave": [c_void_p],
    "begin_call": [c_void_p, c_uint32, POINTER(_Copy), c_int, c_void_p, c_void_p, POINTER(c_uint32)],
    "wait_queued": [c_void_p, c_double, POINTER(c_int)],
    "set_answer": [c_void_p, POINTER(_Copy), c_int],
    "prepare": [POINTER(c_void_p), c_int, c_int, POINTER(c_int)],
    "release": [POINTER(c_void_p), c_int, POINTER(Times)],
    "call_on_host": [POINTER(c_void_p), POINTER(HostInput), c_int, POINTER(Times)],
    "read_event": [c_void_p, POINTER(c_double)],
    "wait_described": [c_void_p],
    "queue_answer": [c_void_p, POINTER(Times)],
    "wait_copied": [POINTER(c_void_p), c_int, POINTER(c_double)],
    "let_go": [POINTER(c_void_p), c_int],
    "end_call": [c_void_p, POINTER(_Copy), c_int, c_double, POINTER(c_int), POINTER(c_double)],
}


@functools.cache
def library() -> ctypes.CDLL:
    core = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libwarpboard_core.so"))
    for name, parameters in _PARAMETERS.items():
        getattr(core, "warpboard_" + name).argtypes = parameters
    core.warpboard_error.restype = core.warpboard_gate_ptx.restype = c_char_p
    core.warpboard_sealed_bytes.restype = c_size_t
    return core


def _call(name: str, *arguments: Any) -> None:
    code = getattr(library(), "warpboard_" + name)(*arguments)
    if code == 0:
        return
    if code == _GONE:
        raise RunnerGone
    message = library().warpboard_error().decode("utf-8", "replace")
    raise Refused(message) if code == _REFUSED else RuntimeError(message)


def _copies(copies: Sequence[tuple[int, int, int]]) -> ctypes.Array[_Copy]:
    return (_Copy * len(copies))(*(_Copy(*copy) for copy in copies))


class Device:
    """Device is the judge's side of the device whose context is current at construction."""

    def __init__(self) -> None:
        made = c_void_p()
        _call("open_device", byref(made))
        self._device, self.sealed_bytes = made, library().warpboard_sealed_bytes()

    def region(self, size: int) -> tuple[Region, int]:
        """Returns new device memory to share, at another physical address than the last: (region, descriptor). The
        address makes a kernel of 5 µs faster or slower by a percent: if all processes of a run had the same, they would
        agree with each other more than with the next run."""
        bytes_, address, descriptor = c_size_t(size), c_void_p(), c_int()
        _call("make_region", self._device, byref(bytes_), byref(address), byref(descriptor))
        return Region(self, address.value or 0, bytes_.value), descriptor.value

    def drop(self, region: Region) -> None:
        _call("drop_region", self._device, region.address, region.size)

    def poison(self, address: int, size: int) -> None:
        """Overwrites memory with 0xFF."""
        _call("poison", self._device, address, size)

    def flush(self) -> None:
        """Fills the L2 cache with other data."""
        _call("flush", self._device)

    def runner(self, channel: Channel, page: Page) -> CoreRunner:
        return CoreRunner(self._device, channel, page)


class Region:
    """Region is memory of a device that judge and runner map."""

    def __init__(self, device: Device, address: int, size: int) -> None:
        self._device, self.address, self.size = device, address, size

    def poison(self, offset: int, size: int) -> None:
        self._device.poison(self.address + offset, size)

    def close(self) -> None:
        self._device.drop(self)


class CoreRunner:
    """CoreRunner is a runner of a device or, without one, of the host, with its current call."""

    def __init__(self, device: c_void_p | None, channel: Channel, page: Page) -> None:
        made = c_void_p()
        _call("open_runner", device, channel.fileno(), page.address(), PAGE_SIZE, byref(made))
        self.handle, self._page = made, page  # page is kept alive, because the core has its address

    def close(self) -> None:
        """Frees the core's data about the runner, which has ended. Calling it again does nothing."""
        if self.handle:
            _call("close_runner", self.handle)
            self.handle = c_void_p()

    def begin_case(self) -> None:
        """Forgets the durations of calls, and the last answer."""
        library().warpboard_begin_case(self.handle)

    def forget_answer(self) -> None:
        """Forgets the last answer, because its memory is replaced: it is not overwritten in the next call."""
        library().warpboard_forget_answer(self.handle)

    def leave(self) -> None:
        """Releases a call without an input, because the runner waits for it, but it will not be used."""
        library().warpboard_leave(self.handle)

    def begin_call(self, flags: int, arrays: Sequence[tuple[int, int, int]] = (), inputs: int = 0, records: int = 0) -> int:
        """Begins a call, and returns its number. arrays has the input's arrays on a device: (address in the region at
        inputs, address in the judge's own memory, bytes)."""
        number = c_uint32()
        _call("begin_call", self.handle, flags, _copies(arrays), len(arrays), inputs, records, byref(number))
        return number.value

    def wait_queued(self, limit: float) -> bool:
        """Waits until the runner has queued its work. Returns False if limit, in nanoseconds, passes first."""
        late = c_int()
        _call("wait_queued", self.handle, limit, byref(late))
        return not late.value

    def read_event(self) -> float:
        """Returns the time on the runner's own clock, in nanoseconds, once the runner has reported it."""
        ns = c_double()
        _call("read_event", self.handle, byref(ns))
        return ns.value

    def set_answer(self, parts: Sequence[tuple[int, int, int]]) -> None:
        """Sets the copies (to, from, bytes) of the answer's parts on the device."""
        library().warpboard_set_answer(self.handle, _copies(parts), len(parts))

    def wait_described(self) -> None:
        """Waits until a call that was released before it was queued has been queued completely."""
        _call("wait_described", self.handle)

    def queue_answer(self, times: Times) -> None:
        """Queues the copies of an answer that was not known before the release, and a sample of it. Sets times.done and
        times.sampled."""
        _call("queue_answer", self.handle, byref(times))

    def end_call(self, parts: Sequence[tuple[int, int, int]], took: float) -> tuple[bool, float]:
        """Ends a call that took this many nanoseconds. Returns (changed, prepared): changed is True if its answer still
        changed after "done", and prepared is the time to write its input. The parts are overwritten before the next
        call."""
        changed, prepared = c_int(), c_double()
        _call("end_call", self.handle, _copies(parts), len(parts), took, byref(changed), byref(prepared))
        return bool(changed.value), prepared.value


class Together:
    """Together makes calls of several runners at the same time: one runner for each device, or on the host."""

    def __init__(self, runners: Iterable[CoreRunner]) -> None:
        handles = [runner.handle for runner in runners]
        self._runners, self._count = (c_void_p * len(handles))(*handles), len(handles)

    def call_on_host(self, inputs: Sequence[HostInput]) -> Times:
        """Releases calls on the host, and waits for their ends."""
        times = Times()
        _call("call_on_host", self._runners, (HostInput * self._count)(*inputs), self._count, byref(times))
        return times

    def prepare(self, cold: bool) -> bool:
        """Writes the inputs, flushes the caches if cold is set, and keeps the devices busy. Returns True if all of this
        was queued before the devices began."""
        at_once = c_int()
        _call("prepare", self._runners, self._count, cold, byref(at_once))
        return bool(at_once.value)

    def release(self) -> Times:
        """Releases the calls, and waits for their ends and for the samples of known answers."""
        times = Times()
        _call("release", self._runners, self._count, byref(times))
        return times

    def wait_copied(self) -> float:
        """Waits until known answers are copied, and returns the judge's clock at this moment."""
        at = c_double()
        _call("wait_copied", self._runners, self._count, byref(at))
        return at.value

    def let_go(self) -> None:
        """Releases all queued work that waits. Call it also after a failure: a process with waiting work cannot end."""
        _call("let_go", self._runners, self._count)
