"""Makes calls of the judge of Python tasks through its core (warpboard_core.cpp), on the devices that gpu/driver.cpp
pretends. The runners are other processes: those of follower.py, and RUNNER, which is compiled from submissions.cpp.

    conformance.py PROGRAMS FOLDER CASE RUNNER

Prints what happened, as JSON."""

import ctypes
import json
import os
import signal
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])
import numpy  # noqa: E402
import torch  # noqa: E402
import warpboard_calls  # noqa: E402
import warpboard_core  # noqa: E402
from follower import (  # noqa: E402
    CHANGE, CHANGED, DONE, GO, HOLD_UP, LATE, LOOK, LOOKED, PLACE, RELEASE, Babbling, Changing, DoneBefore, DoneOther,
    Dying, DyingLater, Follower, Growing, NeverDone, NeverQueued, QueuedOther, Raising, SampledBefore, Slow, Talking,
    words_of)
from warpboard_answer import BadAnswer, Part  # noqa: E402
from warpboard_calls import Ranks, Runner  # noqa: E402
from warpboard_judge_cuda import JudgeMemory  # noqa: E402
from warpboard_layout import Leaf, NotPassable  # noqa: E402
from warpboard_regions import HostMemory, Regions  # noqa: E402
from warpboard_wire import (  # noqa: E402
    CHANNEL_FD, CUDA, INPUTS, PAGE_FD, PAGE_SIZE, Channel, Page, Refused, RunnerGone, shared_memory)

SEEN = os.path.join(sys.argv[2], "seen")
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
warpboard_calls.LEAST_ANSWERS = 1 << 20


class Host(HostMemory):
    def __init__(self):
        pass


class Judge:
    """Judge makes calls of one runner, or of one on each of two devices."""

    def __init__(self, *runners, warm=False):
        children = [fork(runner) for runner in runners or [Follower]]  # before the driver has threads
        self.events, self.on = [], {}
        self._heard = CALLBACK(self._hear)
        ctypes.CDLL("libcuda.so.1").fake_watch(self._heard)
        self._processes = [process for process, _, _ in children]
        self.devices = [JudgeMemory(torch, rank) for rank in range(len(children))]
        for device in self.devices:
            device.cold = not warm
        self.runners = [Runner(Channel(end), page, Regions(Host(), device), Host(), device)
                        for (_, end, page), device in zip(children, self.devices)]
        self.words = [words_of(page) for _, _, page in children]
        self._ranks = Ranks(self.runners)
        self._ranks.ready()
        self._ranks.begin_case()
        self.went = 0

    def _hear(self, device, moment, what, size):
        event = (moment.decode(), what.decode())
        self.events.append((*event, device, size))
        return self.on.get(event, lambda _: 0)(device) or 0

    def call(self, *sizes, late=False, place=0, want=lambda arrays: arrays):
        """Makes a call with arrays of these sizes; of ranks, sizes has a list for each. Returns the Call, with right
        set: its answers are as wanted, and the judge's own arrays as before."""
        for words in self.words:
            words[LATE], words[PLACE] = late, place
        warpboard_calls.QUEUED_LIMIT_NS = 1e6 if late else 600e9
        self.events.clear()
        inputs = [[random(size) for size in theirs] for theirs in (sizes if len(self.runners) > 1 else [sizes])]
        kept = [[tensor.array.copy() for tensor in data] for data in inputs]
        made = self._ranks.call(lambda: inputs)
        made.right = all(same(answer, want(arrays)) and same(data, arrays)
                         for answer, data, arrays in zip(made.answer, inputs, kept))
        made.ended, made.taken = made.begin + made.wall, made.begin + made.snapshot
        return made

    def fails(self, *sizes, **how):
        """Makes a call that fails. Returns the kind of the error, and its text."""
        try:
            made = self.call(*sizes, **how)
        except (BadAnswer, Refused, RunnerGone, RuntimeError) as error:
            return [type(error).__name__, str(error)]
        return ["none", f"right: {made.right}"]

    def end(self):
        """Ends the runners, and waits for them and the devices. Returns the processes' exit codes."""
        for device in self.devices:
            device.make_current()
            device.synchronize()
        for runner in self.runners:
            runner.channel._end.close()
        return [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in self._processes]

    def when_described(self, do):
        """Calls do when the judge waits for the description of a late call."""
        original = warpboard_core.CoreRunner.wait_described

        def wait(core):
            do()
            original(core)

        warpboard_core.CoreRunner.wait_described = wait


def fork(runner):
    """Starts a runner: a class of follower.py, or a submission of submissions.cpp by its number."""
    end, there = socket.socketpair()
    fd = shared_memory(PAGE_SIZE)
    page = Page(fd)
    process = os.fork()
    if process == 0:
        end.close()
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # when the judge ends
        try:
            if isinstance(runner, int):
                there, fd = os.dup(there.fileno()), os.dup(fd)  # neither is 4 or 5 then
                os.dup2(there, CHANNEL_FD)
                os.dup2(fd, PAGE_FD)
                os.execve(sys.argv[4], [sys.argv[4]], {**os.environ, "WAY": str(runner)})
            runner(Channel(there), page, SEEN).serve()
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(9)
    there.close()
    return process, end, page


def random(size):
    """Returns random bytes, which are also numbers of four bytes."""
    numbers = numpy.random.default_rng().random(-(-size // 4), "float32")
    return torch.Tensor(numbers.view("uint8")[:size])


def same(tensors, arrays):
    return len(tensors) == len(arrays) and all(
        numpy.array_equal(tensor.array.view("uint8"), array) for tensor, array in zip(tensors, arrays))


def wait_until(condition):
    while not condition():
        time.sleep(0.001)


def sealed():
    """A small array and a large one: what the runner sees of them while the judge keeps the device, and its answer."""
    judge, small, large = Judge(), 4098, 4 << 20

    def look(_):
        judge.words[0][LOOK] += 1
        wait_until(lambda: judge.words[0][LOOKED] == judge.words[0][LOOK])

    judge.on["began", "hold_device"] = look
    made = judge.call(small, large)
    with open(SEEN, "rb") as file:
        seen = numpy.frombuffer(file.read(), "uint8")
    (data,) = made.data
    missing = (seen[4608 : 4608 + large] != data[1].array).reshape(-1, 4).any(1)
    pieces = set((missing.nonzero()[0] // 128).tolist())
    return {"right": made.right, "small is hidden": bool((seen[:4096] == 0xFF).all()),
            "bytes after its last word": bool((seen[4096:4098] == data[0].array[4096:]).all()),
            "pieces are missing": 32 <= len(pieces) and int(missing.sum()) <= 64 * 128, "runner": judge.end()}


def in_time():
    judge = Judge()
    made = [judge.call(4096, 40, place=512 * (i % 2)) for i in range(4)]
    return {"right": all(call.right for call in made), "late": any(call.late for call in made),
            "at once": [call.at_once for call in made],
            "in order": all(call.begin < call.ended <= call.begin + call.sampled <= call.taken for call in made),
            "clock": all(call.event == 1000 for call in made), "parts": made[0].parts, "sizes": made[0].sizes,
            "runner": judge.end()}


def late():
    """The answer lies in turns at two places. The runner goes on only when the judge waits for its description."""
    judge, found = Judge(), []
    times = []

    def go():
        times.append(time.perf_counter_ns())
        judge.words[0][GO] = judge.runners[0].number

    judge.when_described(go)

    def call(place):
        made = judge.call(4096, late=True, place=place)
        by_done = made.ended <= times[-1] and made.taken <= times[-1]
        when = "by done" if by_done else "when queued" if made.ended >= times[-1] else "between"
        found.append([made.late and made.right, when])

    call(0)  # not foreseen
    judge.call(4096, place=512)
    call(0)  # as two calls before
    call(512)
    call(1024)  # described otherwise
    call(512)  # as two calls before
    return {"calls": found, "runner": judge.end()}


def never_queued():
    judge = Judge(NeverQueued)
    judge.words[0][GO] = 1
    return {"error": judge.fails(4096, late=True), "runner": judge.end()}


def two_ranks():
    """Sizes known to both devices, to the first, and to the second. A device that has an input has other work until all
    is queued."""
    judge, found = Judge(Follower, Follower), {}
    judge.call([64], [64])
    for name, sizes in {"known": ([64], [64]), "new to one": ([64], [128]), "new to the other": ([256], [64])}.items():
        made = judge.call(*sizes)
        events = [(moment, what, rank) for moment, what, rank, _ in judge.events]
        began = [events.index(("began", "begin_writing", rank)) for rank in (0, 1)]
        last = [events.index(("queued", what, rank)) for rank in (0, 1) for what in ("hold_device", "sample", "copy")]
        of_rank = [[what for moment, what, its in events if moment == "queued" and its == rank] for rank in (0, 1)]
        kept = [events.index(("queued", what, rank)) for rank in (0, 1) for what in ("begin_writing", "hold_device")]
        found[name] = {"right": made.right, "at once": made.at_once,
                       "begins after all is queued": made.at_once and min(began) > max(last),
                       "waits": [what.index("wait") < what.index("begin_writing") for what in of_rank],
                       "kept behind its input": kept == sorted(kept)}
    return {**found, "runners": judge.end()}


def cannot_queue(*runners):
    judge, last = Judge(*runners), len(runners) - 1
    sizes = [[64]] * len(runners) if last else [64]
    judge.call(*sizes)
    judge.on["queued", "sample"] = lambda device: device == last
    kind, text = judge.fails(*sizes)
    left = [words[RELEASE] == 0xFFFFFFFF for words in judge.words]
    return {"error": [kind, "cudaMemcpy2DAsync" in text], "left": left, "runners": judge.end()}


def one_fails():
    """The first of two ranks is released before the second one's fault is found."""
    judge = Judge(Follower, DoneBefore)
    return {"error": judge.fails([64], [64]), "runners": judge.end()}


def sampled_before():
    judge, original = Judge(SampledBefore), warpboard_core.Together.release

    def release(together):
        wait_until(lambda: ("began", "write") in [event[:2] for event in judge.events])  # behind the sample
        judge.words[0][HOLD_UP] = 1
        wait_until(lambda: judge.words[0][DONE] == 0)
        return original(together)

    warpboard_core.Together.release = release
    return {"error": judge.fails(4096), "runner": judge.end()}


def changing():
    judge = Judge(Changing)

    def change(_):  # the answer is copied when its sample is taken
        wait_until(lambda: ("began", "write") in [event[:2] for event in judge.events])
        judge.words[0][CHANGE] = judge.runners[0].number
        wait_until(lambda: judge.words[0][CHANGED] == judge.runners[0].number)

    judge.on["began", "copy"] = change
    return {"error": judge.fails(4096), "runner": judge.end()}


def fails(runner, calls=1, late=False):
    judge = Judge(runner)
    for _ in range(calls - 1):
        judge.call(4096)
    kind, text = judge.fails(4096, late=late)
    return {"error": [kind, text.partition(", and the longest")[0]], "runner": judge.end()}


def growing():
    """The first call needs more room. Its work goes on for a while after the judge has left it."""
    judge = Judge(Growing)

    def left():
        wait_until(lambda: judge.words[0][RELEASE] == 1)
        time.sleep(0.2)
        judge.words[0][HOLD_UP] = 1

    threading.Thread(target=left).start()
    original, numbers = warpboard_core.CoreRunner.begin_call, []

    def begin(core, *rest):
        numbers.append(original(core, *rest))
        warpboard_calls.QUEUED_LIMIT_NS = 600e9 if len(numbers) == 1 else 1e6
        return numbers[-1]

    warpboard_core.CoreRunner.begin_call = begin
    made = judge.call(4096)
    return {"right": made.right, "calls": numbers, "runner": judge.end()}


def one_not_asked():
    """The second rank's input cannot be passed on when the first rank has its call."""
    judge = Judge(Follower, Follower)
    try:
        judge._ranks.call(lambda: [[random(64)], [lambda: 0]])
    except NotPassable:
        return {"left": [words[RELEASE] for words in judge.words], "runners": judge.end()}


def growing_beside_slow():
    """One rank needs more room before the other one has queued its call."""
    judge = Judge(Growing, Slow)
    judge.words[0][HOLD_UP] = 1
    return {"right": judge.call([64], [64]).right, "runners": judge.end()}


def raising():
    judge = Judge(Raising)
    return {"error": judge.fails(4096), "next": judge.call(4096).right, "runner": judge.end()}


def turns():
    """Two kernels whose inputs have different sizes."""
    judge = Judge()
    return {"at once": [judge.call(*sizes).at_once for sizes in [(16, 16), (16, 16, 32)] * 2], "runner": judge.end()}


def caches():
    judge = Judge(warm=sys.argv[3] == "warm caches")

    def flushes():
        return sum(moment == "queued" and what == "fill" and size == 2 << 20 for moment, what, _, size in judge.events)

    judge.call(4096)
    judge.call(4096)  # fills no new memory
    flushed = flushes()
    judge.events.clear()
    judge.devices[0].warm_up(seconds=0.001)
    return {"flushed": flushed, "woken": flushes() > 0, "runner": judge.end()}


def in_cpp(way, late=False):
    """Makes calls of the C++ runner, which describes inputs and answers otherwise: gpu/task.h has the types."""

    def describe(data):
        leaves, at = [], []
        for tensor in data:
            at.append(sum(-(-leaf.span // 512) * 512 for leaf in leaves))
            leaves.append(Leaf(tensor, CUDA, (), tensor.array.nbytes))
            leaves[-1].offset = at[-1]
        items = data[0].array.nbytes // 4
        return struct.pack("<QQQQQiif", items, at[0], items, at[1], 2, 2, 3, 0.5), leaves

    def read(text, _):
        kind, items, where, offset = struct.unpack("<cQBQ", text)
        assert kind == b"A", kind
        role, on = list(judge.runners[0].regions.bytes)[where - 1]
        name = "inputs" if role == INPUTS else "answers"
        return ["list", [["part", 0]]], [Part("tensor", on, torch.float32, (items,), (1,), name, offset, 4 * items)]

    warpboard_calls.describe, warpboard_calls.read = describe, read
    def want(arrays):
        return [(arrays[0].view("float32") * numpy.float32(2.5)).view("uint8")]

    judge = Judge(way)
    found = []
    for _ in range(3):
        made = judge.call(4096, 4096, late=late, want=want)
        found.append([made.right, made.late, made.begin < made.ended <= made.taken])
    return {"calls": found, "runner": judge.end()}


def never_ended():
    """A runner that is forgotten without an end. The next one's page lies at the same address."""
    judge = Judge()
    judge.events.clear()
    first = judge.runners[0]
    judge.runners[0] = Runner(first.channel, first.page, first.regions, Host(), judge.devices[0])
    return {"seen": [what for _, what, _, _ in judge.events], "runner": judge.end()}


CASES = {
    "never ended": never_ended,
    "C++ in place": lambda: in_cpp(0),
    "C++ own answer": lambda: in_cpp(1),
    "C++ late": lambda: in_cpp(4, late=True),
    "sealed until the release": sealed,
    "queued in time": in_time,
    "queued late": late,
    "never queued": never_queued,
    "two ranks": two_ranks,
    "two kernels in turns": turns,
    "cannot queue": lambda: cannot_queue(Follower),
    "cannot queue one of two": lambda: cannot_queue(Follower, Follower),
    "one of two fails": one_fails,
    "one of two not asked": one_not_asked,
    "changing": changing,
    "growing": growing,
    "growing beside a slow one": growing_beside_slow,
    "raising": raising,
    "warm caches": caches,
    "cold caches": caches,
    "done before the release": lambda: fails(DoneBefore),
    "sampled before the release": sampled_before,
    "queued another call": lambda: fails(QueuedOther),
    "another call done": lambda: fails(DoneOther),
    "dying": lambda: fails(Dying),
    "dying later": lambda: fails(DyingLater, 6),
    "never done": lambda: fails(NeverDone, 6),
    "talking": lambda: fails(Talking),
    "babbling": lambda: fails(Babbling),
}

if __name__ == "__main__":
    try:
        print(json.dumps(CASES[sys.argv[3]]()), flush=True)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(0)  # threads of the devices still run
