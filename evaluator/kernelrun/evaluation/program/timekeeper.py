"""The judge's memory and clocks: what it shares with the processes of the kernels, and what its clocks' times mean.

A judge that stays for further evaluations keeps its device and our own runner: setting them up takes longer than everything else
that an evaluation needs of them.
"""

import functools
import gc
import select
import time
from typing import Any

import torch

from sides import NoFlush
from timing import EvaluationClocks
from warpboard_calibrator import CALIBRATIONS, Calibrator
from warpboard_calls import TaskFailed
from warpboard_layout import describe
from warpboard_regions import HostMemory, Regions

# Seconds for which an idle device keeps its clocks while this process has a context there. On an H100 a kernel of 81 µs took the same
# within 0.1 % after 1, 3 and 8 seconds, woken or not.
_AWAKE = 8
_CONSTANT = 30  # seconds for which constants of a device are used for further evaluations with such inputs and answers
_EARLIER_FD = 5  # a pipe that ends with the last process of earlier evaluations
_LEAVING = 60  # seconds after which the worker has killed these
_FULL = 1 / 8  # of a device's memory: kernels that use more must have ended before the next ones come


class Timekeeper:
    def __init__(self, kind, cold, timed):
        """kind is host or cuda; cold means that each call begins with empty caches."""
        self.kind, self.device = kind, "cpu" if kind == "host" else "cuda"
        self._host, self._cuda, self._ours = _set_up(kind, cold and kind == "host", timed)
        if self._cuda is not None:
            self._cuda.cold = cold
        self._cold, self._constants, self._regions = cold, {}, []
        self._kept = _kept(kind)

    def memory(self):
        """(regions, host, device) for a process whose calls are timed."""
        self._regions.append(Regions(self._host, self._cuda))
        return self._regions[-1], self._host, self._cuda

    def quiet(self):
        """The same for one whose calls are not timed, and which hands over host memory alone."""
        self._regions.append(Regions(_quiet(), None))
        return self._regions[-1], _quiet(), None

    def wait_alone(self):
        """Waits until nothing is left of the kernels of earlier evaluations."""
        if not select.select([_EARLIER_FD], [], [], _LEAVING)[0]:
            raise TaskFailed("a process of an earlier evaluation has not ended.")

    def has_room(self):
        """Reports whether so much of a device's memory is free that the next evaluation has enough before this one's processes have
        ended."""
        if self._cuda is None:
            return False
        free, total = torch.cuda.mem_get_info()
        return free >= total * (1 - _FULL)

    def knows(self, calls, values):
        """Reports whether reading these calls measures nothing."""
        key = self._key(calls, values)
        if key not in self._constants and (constants := self._recent(key)) is not None:
            self._constants[key] = constants
        return key in self._constants

    def _key(self, calls, values):
        return describe(values)[0], min(call.size for call in calls), self._cold

    def warm_up(self):
        """Raises the clocks of a device that was idle. After an evaluation it is not idle, and waking it slows down the
        kernels' processes, which then make their contexts."""
        if self._cuda is None:
            return
        if time.monotonic() > self._kept.awake_until:
            self._cuda.warm_up()
        self.used()

    def used(self):
        """The device has just worked for some time."""
        self._kept.awake_until = time.monotonic() + _AWAKE

    def read(self, calls, values, regions, reference, beside):
        """The clocks of one kernel's calls: of the reference's, or of the other's beside the reference's clocks. Two
        with answers of one size have the same constants. If they are not known, all processes must have ended."""
        key = self._key(calls, values)
        if not self.knows(calls, values):
            self._constants[key] = self._measure(key, calls, values, regions)
        return EvaluationClocks(calls, self._constants[key], reference, beside)

    def _recent(self, key):
        """The constants that an earlier evaluation measured, None if they are too old. This judge has one caller's evaluations, and
        each measures when its kernels' processes have ended."""
        constants, until = self._kept.constants.get(key, (None, 0.0))
        return constants if time.monotonic() < until else None

    def _measure(self, key, calls, values, regions):
        self._ours.use([regions])
        constants = self._ours.constants([values], calls, CALIBRATIONS[self.kind])
        if self.kind == "cuda" and not self._ours.early():  # inputs that are described early have constants of that moment
            known, now = self._kept.constants, time.monotonic()
            for old in [old for old, (_, until) in known.items() if until <= now]:
                del known[old]
            known[key] = constants, now + _CONSTANT
        return constants

    def end(self):
        """Returns this evaluation's share of the device. All processes of kernels have ended, or are being ended."""
        if self._ours is not None:
            self._ours.forget()
        for regions in self._regions:
            regions.close()
        if self._cuda is not None:
            gc.collect()
            torch.cuda.empty_cache()


class _Kept:
    """The state that one evaluation leaves for the next: the time until which the device keeps its clocks, and
    constants, with the time until which they are used, by the inputs, the size of the answer, and whether caches are
    cold."""

    def __init__(self):
        self.awake_until, self.constants = 0.0, {}


@functools.cache
def _kept(_kind):
    return _Kept()


@functools.cache
def _quiet():
    return NoFlush()


@functools.cache
def _set_up(kind, cold, timed):
    """Returns the judge's memory on the host, its device, and our own runner, None for a missing one. cold means that
    the host's caches are emptied before each call."""
    # Before the question whether there is a GPU: without NVML, torch initializes CUDA for it, and no fork can use CUDA then.
    ours: Any = Calibrator() if timed else None
    if kind == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU on this machine")
    if timed:
        ours.start(kind)
    host, device = HostMemory() if cold else NoFlush(), None
    if kind == "cuda":
        from warpboard_judge_cuda import JudgeMemory

        device = JudgeMemory(torch)
    if timed:
        ours.connect(host, [device])
    return host, device, ours
