"""The judge's own runner, which makes empty calls. Their times are the constants that the judge subtracts from its
clocks."""

from __future__ import annotations

import contextlib
import os
import socket
import sys

from warpboard_calls import Ranks, Runner, TaskFailed
from warpboard_clocks import QUEUEING_NS, Constants
from warpboard_layout import describe, flat_bytes, reach
from warpboard_limits import HOST_CALIBRATIONS
from warpboard_regions import Regions
from warpboard_runner import Host, choose_cuda, serve
from warpboard_wire import CUDA, HOST, PAGE_SIZE, Channel, Page, Refused, RunnerGone, TooLarge, shared_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, NoReturn

    from warpboard_calls import Call
    from warpboard_judge_cuda import JudgeMemory
    from warpboard_regions import HostMemory

CALIBRATIONS = {"host": HOST_CALIBRATIONS, "cuda": 40}  # number of empty calls per case


@contextlib.contextmanager
def by_our_runner() -> Iterator[None]:
    """Turns failures of our own runner into failures of the judge: they are not the submission's fault."""
    try:
        yield
    except TooLarge:
        raise
    except (RunnerGone, Refused) as error:
        raise TaskFailed("the judge's own runner, which measures the constants of its clocks, ended too early.") from error


class Calibrator:
    """Calibrator has our own runners, in children of this process: as many as the submission has ranks. They are forked
    before this process has secrets or a CUDA context. start tells them whether to use a GPU, connect waits for them,
    and use makes their calls use the given regions."""

    _kind: str  # set by start
    _runners: list[Runner]  # set by connect, as _together is
    _together: Ranks

    def __init__(self, ranks: int = 1) -> None:
        self._children: list[tuple[socket.socket, Page]] = []
        sys.stdout.flush()
        sys.stderr.flush()
        for rank in range(ranks):
            self._children.append(_fork(rank))

    def start(self, kind: str) -> None:
        self._kind = kind
        for end, _ in self._children:
            end.sendall(kind[:1].encode())

    def connect(self, host: HostMemory, devices: Iterable[JudgeMemory | None]) -> None:
        """Waits until the runners are ready. devices has, for each, a device, or None for the host."""
        self._runners = [Runner(Channel(end), page, Regions(host, device), host, device)
                         for (end, page), device in zip(self._children, devices)]
        self._together = Ranks(self._runners)
        with by_our_runner():
            self._together.ready()

    def use(self, regions: Iterable[Regions]) -> None:
        self._together.use(regions)

    def forget(self) -> None:
        """Makes the runners release the memory of the last case."""
        for runner in self._runners:
            runner.forget()

    def end(self) -> None:
        self._together.end()

    def early(self) -> bool:
        """Reports whether descriptions of the last case's inputs differed, and so revealed something before the
        release."""
        return any(runner.early for runner in self._runners)

    def constants(self, inputs: list[Any], calls: Sequence[Call], number: int) -> Constants:
        """Measures the clocks' constants for these calls, by calls of our own runners that only write an answer, with
        these inputs and answers as large as the smallest of calls. The submission's process must have ended, so that it
        cannot disturb the measurement."""
        with by_our_runner():
            return self._measure(inputs, calls, number)

    def _measure(self, inputs: list[Any], calls: Sequence[Call], number: int) -> Constants:
        # The submission chooses the size of its answers, so only the time to copy the smallest one is subtracted.
        sizes = [min(theirs) for theirs in zip(*(call.sizes for call in calls))]
        self._together.begin_case()
        # Descriptions of these inputs are equal, even if those of the submission's inputs differed.
        for runner in self._runners:
            runner.early = any(call.early for call in calls)
            runner.keeps_host = calls[-1].keeps_host
        # Parts of an answer that overlap need less memory than an answer of our own runner with the same size.
        for runner, size in zip(self._runners, sizes):
            runner.reserve(size)
        made = []
        for _ in range(number):
            made.append(self._together.call(lambda: list(zip(inputs, sizes))))
            made[-1].data = made[-1].answer = None
        mapping = max(runner.regions.most_mapping() for runner in self._runners)
        queueing = QUEUEING_NS if self._kind == "cuda" and not any(runner.much_described for runner in self._runners) else 0.0
        return Constants.of(self._kind, made[1:], mapping, queueing)


def _fork(rank: int) -> tuple[socket.socket, Page]:
    """Forks a process with one of our own runners. Returns the judge's end of its channel, and its page."""
    end, there = socket.socketpair()
    fd = shared_memory(PAGE_SIZE)
    page = Page(fd)
    os.close(fd)
    if os.fork() == 0:
        end.close()
        _be_calibrator(there, page, rank)
    there.close()
    return end, page


def _be_calibrator(end: socket.socket, page: Page, rank: int) -> NoReturn:
    code, device = 1, None
    try:
        kind = end.recv(1)
        if kind == b"c":
            import torch

            if rank:
                torch.cuda.set_device(rank)
            device = choose_cuda(page)
        if kind:
            channel = Channel(end)
            host = _OwnHost(page, channel)
            code = serve(channel, page, _fill_on_device if kind == b"c" else host.fill, device, host, closes=True)
    except (RunnerGone, OSError):
        code = 0  # not a failure: the judge has ended
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


class _OwnHost(Host):
    """_OwnHost is our own runner on the host. If no array of the input has enough memory for an answer, its kernel
    writes it into the answers' region. Another array in the input would make passing the input longer than in the
    submission's calls."""

    def fill(self, given: tuple[Any, int]) -> Any:
        answer, size = _fill(given, HOST), given[1]
        if answer is not None or size == 0:
            return answer
        try:
            import numpy
        except ImportError:
            return None
        region = self._regions.answers[HOST]
        answer = numpy.frombuffer(region.memory, "uint8", size, region.take(size))
        answer.fill(1)
        return answer


def _fill_on_device(given):
    """Writes an answer on a device, and returns it. If no array of the input has enough memory, it allocates memory, as
    a submission would. Another array in the input would take the judge longer to write, and a submission could hide
    work in this time."""
    answer, size = _fill(given, CUDA), given[1]
    if answer is not None or size == 0:
        return answer
    torch = sys.modules["torch"]
    return torch.empty(size, dtype=torch.uint8, device="cuda").fill_(1)


def _fill(given, kind):
    """Writes an answer into an array of the input, and returns it. given is (input, bytes of the answer). Returns None
    if no array is large enough."""
    data, size = given
    room = next((leaf.value for leaf in describe(data)[1] if leaf.kind == kind and leaf.span >= size), None)
    if room is None or size == 0:
        return None
    flat = _flat(room)[:size]
    (flat.fill_ if hasattr(flat, "fill_") else flat.fill)(1)
    return flat


def _flat(array):
    """Returns the bytes of an array or tensor as a flat array or tensor."""
    if hasattr(array, "storage_offset"):
        return flat_bytes(array, reach(array.shape, array.stride()) * array.element_size())
    numpy = sys.modules["numpy"]
    return numpy.frombuffer(array, "uint8") if array.flags.c_contiguous else array.reshape(-1).view("uint8")
