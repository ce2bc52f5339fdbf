"""Our own runner, which measures what a call of nothing takes: the constants of the judge's clocks."""

import contextlib
import os
import socket
import sys

from warpboard_calls import Runner, TaskFailed
from warpboard_clocks import Constants, mostly_late
from warpboard_layout import describe, flat_bytes, reach
from warpboard_runner import choose_cuda, serve
from warpboard_stats import quantile
from warpboard_wire import CUDA, HOST, PAGE_SIZE, Channel, Page, Refused, RunnerGone, shared_memory

CALIBRATIONS = {"host": 10, "cuda": 40}  # calls of nothing that constants are made of


@contextlib.contextmanager
def by_our_runner():
    """For calls that our own runner makes: what goes wrong with it is nothing that the submission did."""
    try:
        yield
    except (RunnerGone, Refused) as error:
        raise TaskFailed("the judge's own runner, which measures the constants of its clocks, ended too early.") from error


class Calibrator:
    """A runner of ours in a child of this process, forked before this one knows anything worth hiding or has a CUDA
    context. start tells it what it runs on, connect waits for it, use has its calls use other memory."""

    def __init__(self):
        self._kind = self._runner = None
        self._end, there = socket.socketpair()
        fd = shared_memory(PAGE_SIZE)
        self._page = Page(fd)
        os.close(fd)
        sys.stdout.flush()
        sys.stderr.flush()
        if os.fork() == 0:
            self._end.close()
            _be_calibrator(there, self._page)
        there.close()

    def start(self, kind):
        self._kind = kind
        self._end.sendall(kind[:1].encode())

    def connect(self, host, cuda):
        self._runner = Runner(Channel(self._end), self._page, None, host, cuda)
        with by_our_runner():
            self._runner.ready()

    def use(self, regions):
        self._runner.use(regions)

    def end(self):
        self._runner.end()

    def constants(self, draw, calls, number):
        """The clocks' constants for these calls: so many calls of our own that do nothing but write an answer, with
        inputs from draw and answers as large as these, and that wait for the device on the host where these do. Whoever
        made the calls is dead by now and can disturb nothing."""
        with by_our_runner():
            return self._measure(draw, calls, number)

    def _measure(self, draw, calls, number):
        # The smallest answer: time to copy more than that is the submission's to lose, which chooses the size.
        size, waits = min(call.size for call in calls), self._kind == "cuda" and mostly_late(calls)
        self._runner.begin_case()
        made = []
        for _ in range(number):
            made.append(self._runner.call(lambda: self._with_room(draw(), size, waits)))
            made[-1].data = made[-1].answer = None
        event = _alone(self._with_room(draw(), size, waits)) if waits else None
        return Constants.of(self._kind, made[1:], event)

    def _with_room(self, data, size, waits):
        """What our own runner's kernel is given: the input, where it has no array of size bytes more memory, and
        whether to wait for the device."""
        _, leaves = describe(data)
        on = CUDA if self._kind == "cuda" else HOST
        room = None if any(leaf.kind == on and leaf.span >= size for leaf in leaves) else self._blank(size)
        return data, room, size, waits

    def _blank(self, size):
        """Memory for an answer of our own runner's."""
        if self._kind == "cuda":
            return sys.modules["torch"].empty(max(size, 1), dtype=sys.modules["torch"].uint8, device="cuda")
        numpy = sys.modules.get("numpy")
        return None if numpy is None else numpy.zeros(size, "uint8")


def _alone(given):
    """The nanoseconds of our own runner's kernel where there is one context: the median of some."""
    torch = sys.modules["torch"]
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(20):
        torch.cuda.synchronize()
        begin.record()
        _fill(given)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e6)
    return quantile(times, 0.5)


def _be_calibrator(end, page):
    code = 1
    try:
        kind = end.recv(1)
        if kind == b"c":
            import torch  # noqa: F401  (it finds the device for both)
        if kind:
            code = serve(Channel(end), page, _fill, choose_cuda(page) if kind == b"c" else None)
    except (RunnerGone, OSError):
        code = 0  # the judge has ended
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _fill(given):
    """The kernel of our own runner: writes an answer of some bytes into what it was given, and waits for the device
    where it is told to."""
    data, room, size, waits = given
    if room is None:
        room = next((leaf.value for leaf in describe(data)[1] if leaf.span >= size), None)
    if room is None or size == 0:
        return None
    flat = _flat(room)[:size]
    (flat.fill_ if hasattr(flat, "fill_") else flat.fill)(1)
    if waits:
        flat[0].item()
    return flat


def _flat(array):
    """The bytes of an array or tensor, as one of them."""
    if hasattr(array, "storage_offset"):
        return flat_bytes(array, reach(array.shape, array.stride()) * array.element_size())
    numpy = sys.modules["numpy"]
    return numpy.frombuffer(array, "uint8") if array.flags.c_contiguous else array.reshape(-1).view("uint8")
