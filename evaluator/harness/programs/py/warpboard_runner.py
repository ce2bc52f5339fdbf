"""The runner: the submission's process. It makes the calls that the judge requests and reports the end of each.

    python3 warpboard_runner.py

Nothing here is a protection: the submission can change all of it, and gains nothing. Inputs get into shared memory when
a call is released, answers count when the judge has copied them, and the judge's clock runs from one to the other
(package evaluator/judge).
"""

from __future__ import annotations

import os
import sys
from time import perf_counter_ns, sleep

import warpboard_answer
import warpboard_ranks
import warpboard_setup
from warpboard_answer import NoRoom, describe
from warpboard_host import Mapped, Rehearsal, is_mapped_in_call
from warpboard_layout import ALIGNMENT, array_view, as_parameter, restore
from warpboard_wire import (
    ANSWERS, CALL, CASE, CHANNEL_FD, CUDA, FOLLOWS, HOST, INPUTS, PAGE_FD, RANGE, READY, SEALED, Channel, Page, RunnerGone, unpack_call,
    unpack_case)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from warpboard_cuda import RunnerDevice, _Region

_LATER = object()  # replaces an input whose description arrives only with the release


class Regions:
    """Regions is the shared memory of a case, with one region per role (inputs, answers, sealed records) and kind
    (host, CUDA)."""

    def __init__(self, layout: Iterable[tuple[int, ...]], descriptors: Iterable[int],
                 cuda: RunnerDevice | None) -> None:
        self.inputs: dict[int, Any] = {}
        self.answers: dict[int, Any] = {}
        self.sealed: dict[int, Any] = {}
        self._all: list[_Region | _HostRegion] = []
        for (kind, role, size), fd in zip(layout, descriptors):
            region: _Region | _HostRegion
            if kind == CUDA:
                assert cuda is not None, "the judge has a GPU, and this process none"
                region = cuda.region(fd, size)
            else:
                region = _HostRegion(fd, size)
            os.close(fd)
            self._of(role)[kind] = region
            self._all.append(region)

    def close(self) -> None:
        """Releases the memory. Do not use any array in it after that."""
        for region in self._all:
            region.close()

    def _of(self, role: int) -> dict[int, Any]:
        return {INPUTS: self.inputs, ANSWERS: self.answers, SEALED: self.sealed}[role]

    def address(self, role: int) -> int:
        """Returns the address of the device region with this role, or 0 if there is none."""
        region = self._of(role).get(CUDA)
        return region.address if region is not None else 0

    def view(self, kind: int, offset: int, span: int, key: list[Any]) -> Any:
        region: Any = self.inputs.get(kind)
        if kind == CUDA:
            return as_parameter(region.view(offset, span, key), key)
        return as_parameter(array_view(region and region.memory, offset, span, key), key)


class _HostRegion:
    def __init__(self, fd: int, size: int) -> None:
        self._mapped, self.size = Mapped(fd, size), size
        self.memory, self.address = self._mapped.view, self._mapped.address
        self._used = 0
        self._last: int | None = None  # descriptor of the mapped input, or None

    def let_go(self) -> None:
        """Unmaps the last input."""
        if is_mapped_in_call(self.size):
            self._mapped.let_go()
        if self._last is not None:
            os.close(self._last)
            self._last = None

    close = let_go

    def arrive(self, page: Page, number: int, channel: Channel, rehearse: Callable[[], None],
               follows: bool) -> bytes | bytearray:
        """Waits for the release of a call, and for its input, and calls rehearse shortly before. Returns the
        description that arrives with the input, or b"" if it came earlier."""
        page.wait_release(number, rehearse)
        if follows or is_mapped_in_call(self.size):
            _, description, descriptors = channel.receive()
            for fd in descriptors:
                self.replace(fd)
            return description
        while page.release != number:
            channel.watch()  # raises if the judge has ended
            sleep(0.0001)
        return b""

    def replace(self, fd: int) -> None:
        """Maps the memory of a large input in place of the last input's: existing arrays then have its data."""
        self._mapped.put(fd, populate=True)
        self._last = fd

    @property
    def bytes(self) -> Any:
        """The memory as a tensor of bytes, for answers that are tensors."""
        torch = sys.modules["torch"]
        return torch.frombuffer(self.memory, dtype=torch.uint8)

    def begin(self) -> None:
        self._used = 0

    def take(self, size: int) -> int:
        """Allocates memory for an answer, and returns its offset. Raises NoRoom if the region is full."""
        offset = self._used
        self._used += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if self._used > self.size:
            raise NoRoom(self._used)
        return offset


class Host:
    """Host makes calls on the CPU. Each waits in this process for its release, and is timed by this process's clock."""

    _regions: Regions  # set by use
    _rehearsal: Rehearsal  # set by the first use

    def __init__(self, page: Page, channel: Channel) -> None:
        self._page, self._channel = page, channel

    def forget(self) -> None:
        """Drops everything of the last call."""

    def use(self, regions: Regions) -> None:
        self._regions = regions
        if not hasattr(self, "_rehearsal"):
            self._rehearsal = Rehearsal()

    def _rehearse(self) -> None:
        """Runs the steps before and after a kernel once with empty data, which warms the caches: these steps do not
        count as the kernel's time, so no kernel should be able to make them faster."""
        self._rehearsal.run()
        answers = self._regions.answers[HOST]
        arrays, tensors = sys.modules.get("numpy"), sys.modules.get("torch")
        warpboard_answer.describe([module.zeros(1) for module in (arrays, tensors) if module is not None], self._regions)
        answers.begin()

    def call(self, kernel: Callable[[Any], Any], data: Any, number: int, regions: Regions, ranged: bool) -> Any:
        inputs = regions.inputs[HOST]
        inputs.let_go()
        self._page.queue(number)
        description = inputs.arrive(self._page, number, self._channel, self._rehearse, data is _LATER)
        if data is _LATER:
            data = restore(description, regions.view)
        begin = perf_counter_ns()
        output = kernel(data)
        ns = perf_counter_ns() - begin
        self._page.describe(describe(output, regions))
        self._page.finish(number, ns)
        return output


def serve(channel: Channel, page: Page, kernel: Callable[[Any], Any], cuda: RunnerDevice | None = None,
          host: Host | None = None, closes: bool = False) -> int:
    """Makes calls until the judge ends them. cuda is None if torch is not loaded yet or has no device. If closes is
    set, each case releases the memory of the previous one, which is possible only if the kernel keeps no arrays in
    it."""
    host = host or Host(page, channel)
    device: Host | RunnerDevice = host
    regions = Regions((), (), None)
    channel.send(READY)
    while True:
        kind, payload, descriptors = channel.receive()
        if kind == CASE:
            layout = unpack_case(payload)
            on_device = any(region[0] == CUDA for region in layout)
            if on_device and cuda is None:
                import torch  # noqa: F401  (the task's input has tensors, although the submission did not import torch)

                cuda = choose_cuda(page)
            if closes:
                device.forget()
                regions.close()
            regions = Regions(layout, descriptors, cuda)
            device = cuda if on_device and cuda is not None else host
            device.use(regions)
        elif kind == CALL:
            number, flags, description = unpack_call(payload)
            make_call(device, kernel, number, flags, description, regions)
        else:
            return 0


def make_call(device: Host | RunnerDevice, kernel: Callable[[Any], Any], number: int, flags: int,
              description: memoryview, regions: Regions) -> None:
    data = _LATER if flags & FOLLOWS else restore(description, regions.view)
    for region in regions.answers.values():
        region.begin()
    device.call(kernel, data, number, regions, bool(flags & RANGE))


def choose_cuda(page: Page) -> RunnerDevice | None:
    """Returns the current GPU if the submission or the task has loaded torch and there is one, or None."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    import warpboard_cuda

    return warpboard_cuda.RunnerDevice(torch, page)


def main() -> int:
    ranks = int(os.environ.get("POPCORN_GPUS", 0))
    rank = warpboard_ranks.become(ranks) if ranks else 0
    channel, page = Channel.inherited(CHANNEL_FD + 2 * rank), shared_page(PAGE_FD + 2 * rank)
    try:
        from submission import custom_kernel
    except ModuleNotFoundError as error:
        if error.name != "submission":
            raise
        from train import custom_kernel  # the legacy form calls the submission train.py

    if ranks:
        warpboard_ranks.meet(rank, ranks)
    if warpboard_setup.allowed():
        custom_kernel = warpboard_setup.Prepared(custom_kernel, sys.modules.get("submission"))
    try:
        return serve(channel, page, custom_kernel, choose_cuda(page))
    except RunnerGone:
        return 0  # the judge has ended, and has reported the reason


def shared_page(fd: int) -> Page:
    page = Page(fd)
    os.close(fd)
    return page


if __name__ == "__main__":
    sys.exit(main())
