"""The judge's side of a GPU in Python: the device that its task's code uses by torch, and the core's part of it
(warpboard_core)."""

from __future__ import annotations

import time

import warpboard_core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Texts in errors of torch, CUDA, and its libraries.
_NO_MEMORY = ("CUDACachingAllocator", "out of memory", "OUT_OF_MEMORY", "ALLOC_FAILED")


class JudgeMemory:
    """JudgeMemory is the judge's side of a device. If there are several devices, make_current makes the one with its number the
    current one; all other methods use the current device."""

    def __init__(self, torch: Any, number: int | None = None) -> None:
        self._torch, self._device = torch, number
        torch.cuda.init()
        self.make_current()
        torch.zeros(1, device="cuda")
        self.core = warpboard_core.Device()
        self.cold = True  # each call begins with cold caches
        # The tests passed with the available memory: a runner chooses the size of its answers.
        self.blames_runner = False

    def make_current(self) -> None:
        if self._device is not None:
            self._torch.cuda.set_device(self._device)

    def free_bytes(self) -> int:
        return self._torch.cuda.mem_get_info()[0]

    def starved(self, error: BaseException | None) -> bool:
        """Reports whether an error means missing memory although this process has less than a third of the device's. If
        torch cannot ask NVML for the free memory, its allocator fails with another error."""
        cuda = self._torch.cuda
        none_left = isinstance(error, cuda.OutOfMemoryError) or (isinstance(error, RuntimeError) and any(it in str(error) for it in _NO_MEMORY))
        return none_left and (self.blames_runner or cuda.memory_reserved() <= cuda.mem_get_info()[1] / 3)

    def warm_up(self, seconds: float = 0.2) -> None:
        """Raises the clocks of an idle device."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(20):
                self.core.flush()
            self.synchronize()

    def synchronize(self) -> None:
        self._torch.cuda.synchronize()
