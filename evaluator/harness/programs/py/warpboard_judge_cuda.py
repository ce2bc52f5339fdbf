"""The judge's side of a GPU in Python: the device as the task's code uses it through torch, and its part in the core
(warpboard_core)."""

from __future__ import annotations

import time

import warpboard_core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Texts in messages of torch, CUDA, and its libraries that mean missing device memory.
_NO_MEMORY = ("CUDACachingAllocator", "out of memory", "OUT_OF_MEMORY", "ALLOC_FAILED")


class JudgeMemory:
    """JudgeMemory is the judge's side of a device. With several devices, make_current must be called first: the other
    methods use the current device."""

    def __init__(self, torch: Any, number: int | None = None) -> None:
        self._torch, self._device = torch, number
        torch.cuda.init()
        self.make_current()
        torch.zeros(1, device="cuda")
        self.core = warpboard_core.Device()
        self.cold = True  # flush caches before each call

        # Makes the submission responsible if memory runs out, because the tests have passed with the available memory.
        self.blames_runner = False

    def make_current(self) -> None:
        if self._device is not None:
            self._torch.cuda.set_device(self._device)

    def free_bytes(self) -> int:
        return self._torch.cuda.mem_get_info()[0]

    def starved(self, error: BaseException | None) -> bool:
        """Reports whether an error means that the submission left too little memory: the device has none, and this
        process uses less than a third of it, or blames_runner is set. If torch cannot ask NVML for the free memory, its
        allocator fails with another error, so messages are searched, too."""
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
