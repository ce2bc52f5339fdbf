"""The judge's memory and clocks: the memory that it shares with the kernels' processes, and the constants of its
clocks.

A judge that stays for further evaluations keeps its device and its own runner, which measures the constants. Setting
them up takes longer than everything else that an evaluation needs of them.
"""

import functools
import gc
import select
import time
from typing import Any

import torch

import timing
from sides import NoFlush
from warpboard_calibrator import CALIBRATIONS, Calibrator
from warpboard_calls import TaskFailed
from warpboard_layout import describe
from warpboard_regions import HostMemory, Regions

# Seconds for which an idle device keeps its clock rates while this process has a context on it. On an H100, a kernel of
# 81 µs took the same time within 0.1 % after pauses of 1, 3, and 8 seconds, with and without a warm-up.
_AWAKE = 8
_CONSTANT = 30  # seconds for which measured constants are used for further evaluations with such inputs and answers
_EARLIER_FD = 5  # descriptor of a pipe that closes when all processes of earlier evaluations have ended
_LEAVING = 60  # seconds after which the worker has killed the processes of earlier evaluations
_SPARE = 1 / 64  # share of a device's memory that the judge may use to save time
_FULL = 1 / 8  # share of a device's memory: kernels that use more must end before the next evaluation begins


class Timekeeper:
    def __init__(self, kind, cold, timed):
        """kind is host or cuda. With cold, each call begins with empty caches. With timed, a runner of our own is
        started, which measures the constants of the clocks."""
        self.kind, self.device = kind, "cpu" if kind == "host" else "cuda"
        self._host, self._cuda, self._ours = _set_up(kind, cold and kind == "host", timed)
        if self._cuda is not None:
            self._cuda.cold = cold
        self._cold, self._constants, self._regions = cold, {}, []
        self._kept = _kept(kind)

    def memory(self):
        """Returns (regions, host, device) for a process whose calls are timed."""
        self._regions.append(Regions(self._host, self._cuda))
        return self._regions[-1], self._host, self._cuda

    def quiet(self):
        """Returns (regions, host, None) for a process whose calls are not timed, and which shares only host memory."""
        self._regions.append(Regions(_quiet(), None))
        return self._regions[-1], _quiet(), None

    def wait_alone(self):
        """Waits until all processes of earlier evaluations have ended."""
        if not select.select([_EARLIER_FD], [], [], _LEAVING)[0]:
            raise TaskFailed("a process of an earlier evaluation has not ended.")

    @staticmethod
    def spare_bytes():
        """Returns the bytes of the device's memory that the judge may use to save time."""
        return torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory * _SPARE

    def has_room(self):
        """Reports whether enough of the device's memory is free for the next evaluation to begin before the
        processes of this one have ended."""
        if self._cuda is None:
            return False
        free, total = torch.cuda.mem_get_info()
        return free >= total * (1 - _FULL)

    def knows(self, calls, values):
        """Reports whether the constants for these calls are known, so that read() does not measure them."""
        key = self._key(calls, values)
        if key not in self._constants and (constants := self._recent(key)) is not None:
            self._constants[key] = constants
        return key in self._constants

    def _key(self, calls, values):
        sizes = [call.size for call in calls]
        return describe(values)[0], min(sizes), max(sizes), self._cold

    def warm_up(self):
        """Raises the clock rates of a device that was idle. Does nothing soon after an evaluation: the device is not
        idle then, and warming it up would slow down the kernels' processes, which create their contexts."""
        if self._cuda is None:
            return
        if time.monotonic() > self._kept.awake_until:
            self._cuda.warm_up()
        self.used()

    def used(self):
        """Records that the device has just worked, so that warm_up() does nothing for some seconds."""
        self._kept.awake_until = time.monotonic() + _AWAKE

    def read(self, calls, values, regions, partly_known, reference, beside):
        """Returns the clocks of one kernel's calls. partly_known comes from Inputs. `beside` has the reference's clocks
        if this is the other kernel. Kernels with the same inputs and answers of the same sizes have the same
        constants. If these are not known, they are measured, and all kernels' processes must have ended."""
        key = self._key(calls, values)
        if not self.knows(calls, values):
            self._constants[key] = self._measure(key, calls, values, regions)
        constants, byte = self._constants[key]
        if reference or not partly_known:
            calls, constants = timing.from_release(calls, constants)
        return timing.EvaluationClocks(timing.of_one_size(calls, byte), constants, reference, beside)

    def _recent(self, key):
        """Returns the constants that an earlier evaluation measured, or None if there are none or they are too old.
        All evaluations of this judge are one caller's, and constants are measured after the kernels' processes have
        ended."""
        constants, until = self._kept.constants.get(key, (None, 0.0))
        return constants if time.monotonic() < until else None

    def _measure(self, key, calls, values, regions):
        """Returns (constants for the smallest answer of the calls, time in ns to copy a further byte of an answer)."""
        self._ours.use([regions])
        measure = lambda some: self._ours.constants([values], some, CALIBRATIONS[self.kind])  # noqa: E731
        constants, byte = measure(calls), 0.0
        _, least, most, _ = key
        if most > least:
            larger = measure([call for call in calls if call.size == most])
            byte = max(larger.snapshot - larger.handover - constants.snapshot + constants.handover, 0.0) / (most - least)
        # If the description reveals the input, the constants are valid only for these calls
        if self.kind == "cuda" and not self._ours.early():
            known, now = self._kept.constants, time.monotonic()
            for old in [old for old, (_, until) in known.items() if until <= now]:
                del known[old]
            known[key] = (constants, byte), now + _CONSTANT
        return constants, byte

    def end(self):
        """Frees the device memory of this evaluation, except for a small part, which the next one can use. All processes
        of kernels have ended, or are about to end."""
        if self._ours is not None:
            self._ours.forget()
        for regions in self._regions:
            regions.close()
        if self._cuda is not None:
            gc.collect()
            # Allocating memory again would wait for processes of other GPUs that create a context
            if torch.cuda.memory_reserved() > self.spare_bytes():
                torch.cuda.empty_cache()


class _Kept:
    """The state that one evaluation leaves for the next. awake_until is the time until which the device keeps its
    clock rates. constants maps (inputs, size of the answer, cold) to constants and the time until which they are
    used."""

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
    """Returns (the judge's host memory, its device or None, our own runner or None). With cold, the host's caches
    are emptied before each call."""
    # The runner must fork before torch.cuda.is_available(): without NVML, that call initializes CUDA, and a forked
    # process then cannot use CUDA.
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
