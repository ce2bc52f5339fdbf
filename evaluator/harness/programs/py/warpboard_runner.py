"""The runner: the submission's process. It makes the calls that the judge requests and reports the end of each.

    python3 warpboard_runner.py

Nothing here is a protection: the submission can change all of it, without gaining anything. Inputs get into shared memory
when a call is released, answers count when the judge has copied them, and the judge's clock runs from one to the other
(package evaluator/judge).
"""

import os
import sys
from time import perf_counter_ns, sleep

import warpboard_answer
import warpboard_ranks
from warpboard_answer import NoRoom, describe
from warpboard_host import Mapped, Rehearsal, is_mapped_in_call
from warpboard_layout import ALIGNMENT, array_view, as_parameter, restore, tensor_view
from warpboard_wire import (
    ANSWERS, CALL, CASE, CHANNEL_FD, CUDA, FOLLOWS, HOST, INPUTS, PAGE_FD, RANGE, READY, SEALED, Channel, Page, RunnerGone, unpack_call,
    unpack_case)

_LATER = object()  # in place of an input whose description comes with the release


class Regions:
    """The shared memory of one case: by kind, the inputs' and the answers'."""

    def __init__(self, layout, descriptors, cuda):
        self.inputs, self.answers, self.sealed = {}, {}, {}
        self._all = []
        for (kind, role, size), fd in zip(layout, descriptors):
            region = cuda.region(fd, size) if kind == CUDA else _HostRegion(fd, size)
            os.close(fd)
            self._of(role)[kind] = region
            self._all.append(region)

    def close(self):
        """Releases the memory. Do not use any array in it after that."""
        for region in self._all:
            region.close()

    def _of(self, role):
        return {INPUTS: self.inputs, ANSWERS: self.answers, SEALED: self.sealed}[role]

    def address(self, role):
        """Returns the address of the device's region, or 0 without one."""
        region = self._of(role).get(CUDA)
        return region.address if region is not None else 0

    def view(self, kind, offset, span, key):
        region = self.inputs.get(kind)
        if kind == CUDA:
            return as_parameter(tensor_view(*region.place(offset, span), span, key), key)
        return as_parameter(array_view(region and region.memory, offset, span, key), key)


class _HostRegion:
    def __init__(self, fd, size):
        self._mapped, self.size = Mapped(fd, size), size
        self.memory, self.address = self._mapped.view, self._mapped.address
        self._used = 0
        self._last = None  # the descriptor of what is mapped

    def let_go(self):
        """Makes room for the next input."""
        if is_mapped_in_call(self.size):
            self._mapped.let_go()
        if self._last is not None:
            os.close(self._last)
            self._last = None

    close = let_go

    def arrive(self, page, number, channel, rehearse, follows):
        """Waits for the release of a call, and for its input. Rehearses when it is near. Returns the description that follows."""
        page.wait_release(number, rehearse)
        if follows or is_mapped_in_call(self.size):
            _, description, descriptors = channel.receive()
            for fd in descriptors:
                self.replace(fd)
            return description
        while page.release != number:
            channel.watch()  # the judge may have ended
            sleep(0.0001)
        return b""

    def replace(self, fd):
        """Puts a large input's memory in its place: arrays in it then show that."""
        self._mapped.put(fd, populate=True)
        self._last = fd

    @property
    def bytes(self):
        """The memory as a tensor, for answers that are tensors."""
        torch = sys.modules["torch"]
        return torch.frombuffer(self.memory, dtype=torch.uint8)

    def begin(self):
        self._used = 0

    def take(self, size):
        """The offset of memory for an answer."""
        offset = self._used
        self._used += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if self._used > self.size:
            raise NoRoom(self._used)
        return offset


class Host:
    """Calls on the CPU: released when everything is ready, timed by this process's clock."""

    def __init__(self, page, channel):
        self._page, self._channel = page, channel
        self._regions = self._rehearsal = None

    def forget(self):
        """Drops everything of the last call."""

    def use(self, regions):
        self._regions = regions
        self._rehearsal = self._rehearsal or Rehearsal()

    def _rehearse(self):
        """Runs everything before and after a kernel on nothing. It is not the kernel's time, and no kernel does it quicker."""
        self._rehearsal.hold()
        answers = self._regions.answers[HOST]
        arrays, tensors = sys.modules.get("numpy"), sys.modules.get("torch")
        warpboard_answer.describe([module.zeros(1) for module in (arrays, tensors) if module is not None], self._regions)
        answers.begin()

    def call(self, kernel, data, number, regions, ranged):
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


def serve(channel, page, kernel, cuda=None, host=None, closes=False):
    """Makes calls until the judge ends them. cuda is None if no torch with a device is loaded yet. closes means that
    nothing of a case is used once the next one has come."""
    host, regions = host or Host(page, channel), None
    channel.send(READY)
    while True:
        kind, payload, descriptors = channel.receive()
        if kind == CASE:
            layout = unpack_case(payload)
            on_device = any(region[0] == CUDA for region in layout)
            if on_device and cuda is None:
                import torch  # noqa: F401  (the task's input has tensors, and the submission did without)

                cuda = choose_cuda(page)
            if closes and regions is not None:
                device.forget()
                regions.close()
            regions = Regions(layout, descriptors, cuda)
            device = cuda if on_device else host
            device.use(regions)
        elif kind == CALL:
            number, flags, description = unpack_call(payload)
            make_call(device, kernel, number, flags, description, regions)
        else:
            return 0


def make_call(device, kernel, number, flags, description, regions):
    data = _LATER if flags & FOLLOWS else restore(description, regions.view)
    for region in regions.answers.values():
        region.begin()
    device.call(kernel, data, number, regions, bool(flags & RANGE))


def choose_cuda(page):
    """The current GPU when the submission or the task has loaded torch and there is one, else None."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    import warpboard_cuda

    return warpboard_cuda.RunnerDevice(torch, page)


def main():
    channel, page = CHANNEL_FD, PAGE_FD
    ranks = int(os.environ.get("POPCORN_GPUS", 0))
    if ranks:
        rank = warpboard_ranks.become(ranks)
        channel, page = CHANNEL_FD + 2 * rank, PAGE_FD + 2 * rank
    channel, page = Channel.inherited(channel), shared_page(page)
    try:
        from submission import custom_kernel
    except ModuleNotFoundError as error:
        if error.name != "submission":
            raise
        from train import custom_kernel  # its name in the legacy form

    if ranks:
        warpboard_ranks.meet(rank, ranks)
    try:
        return serve(channel, page, custom_kernel, choose_cuda(page))
    except RunnerGone:
        return 0  # the judge has ended, and says itself why


def shared_page(fd):
    page = Page(fd)
    os.close(fd)
    return page


if __name__ == "__main__":
    sys.exit(main())
