"""Gated calls from the judge's side: the input of a call exists only when the runner has queued everything, and the
judge's clocks run from the release to the runner's "done", and to the judge's copy of the answer.

If the ranks of a task for several GPUs make a call together, each has its input, the release is one for all, and the
clocks run until the last of them.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from time import perf_counter_ns

from warpboard_answer import BadAnswer, NoRoom, is_plain, read
from warpboard_answer_copy import AnswerCopy
from warpboard_layout import describe, flat_bytes, sizes, write_host
from warpboard_limits import (
    AFTER_DONE_LIMIT_NS, CALL_LIMIT_FACTOR, CALL_LIMIT_NS, EARLY_QUEUED_LIMIT_NS, GATE_LIMIT_NS, LEAST_ANSWERS, QUEUED_LIMIT_NS,
    UNLIMITED_CALLS)
from warpboard_wire import (
    ANSWERS, CALL, CASE, CUDA, END, FOLLOWS, HOST, INPUTS, RANGE, SEALED, Refused, RunnerGone, TooLarge, wait_for_wakeup, pack_call)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from warpboard_answer import Part
    from warpboard_judge_cuda import JudgeMemory
    from warpboard_layout import Leaf
    from warpboard_regions import HostMemory, Regions
    from warpboard_wire import Channel, Page


# The usual size of an input's description and of its arrays on the host, which the runner has before the release: a few
# plain numbers, and an entry for each array with type, shape, place, and name. Without a name, entries take 33 to 55.
_FEW_BYTES, _ENTRY_BYTES = 128, 80
_STARVED = "The submission's process left too little of the device's memory."
_MOST_GROWTHS = 6  # in one case: each repetition would let the runner choose among inputs


class TaskFailed(Exception):
    """The task's own code failed; the message is a sentence."""


@dataclass
class Call:
    """Call is the result of one call. Times are in nanoseconds on the judge's clock, with nothing subtracted. For a
    call of ranks, data, answer, and sizes have one item per rank."""

    data: Any  # the judge's input
    answer: Any
    event: float  # the runner's clock; the largest of ranks
    wall: float  # release to done; if the answer was not foreseen, to the queueing of its copies
    sampled: float  # release to the sample of the answer; wall without a sample
    snapshot: float  # release to the judge's copy of the answer
    late: bool  # released before it was queued
    prepared: float  # from the first byte of the input on the device until let_go
    switched: float  # from then until the runner's gate ran
    sizes: tuple[int, ...]  # bytes of each runner's answer
    parts: int  # of the answers
    begin: int  # the judge's clock at the release
    at_once: bool = False  # everything until the release was queued before the device began to write the input
    described: float = 0.0  # from the input's description to the release, if the clock starts with the description
    early: bool = False  # the description revealed something of the input

    @property
    def size(self) -> int:
        return sum(self.sizes)


class Runner:
    """Runner is a runner from the judge's side, behind a channel and a page. Two of them may share regions."""

    def __init__(self, channel: Channel, page: Page, regions: Regions, host: HostMemory,
                 cuda: JudgeMemory | None) -> None:
        self.channel, self.page, self.regions = channel, page, regions
        self.host, self.cuda = host, cuda
        self.made, self.longest = 0, 0  # the case's calls, and the longest of them from release to done
        if cuda is not None:
            page.for_device()
            self.make_current()
            cuda.watch(page)
        self.number = secrets.randbelow(1 << 30) + 1
        self._version = 0  # of the regions that the runner has
        self._description: bytes | None = None  # the description of the case's last call
        # Descriptions of the case's inputs reveal something of them. On a device the clock then starts with the
        # description. On the host that is sent with the release, because the judge flushes caches before, which takes
        # milliseconds.
        self.early = False
        self.much_described = False  # more of an input than a few plain numbers was known before the release
        self._growths = 0  # of the answers' memory, in this case
        self.last: list[Part] = []  # parts of the last answer
        # The descriptions of the last two answers, with their trees and parts.
        self._seen: list[tuple[bytes, tuple[list[Any], list[Part]]]] = []

    def ready(self, limit: float | None = None) -> None:
        self.channel.ready(limit)

    def use(self, regions: Regions) -> None:
        """Switches the next calls to other memory."""
        self.regions, self._version = regions, 0

    def forget(self) -> None:
        """Makes a runner of ours release the memory of the last case."""
        self.channel.send(CASE)
        self._version, self.last, self._seen = 0, [], []

    def begin_case(self) -> None:
        self._description, self.early, self.much_described, self.last = None, False, False, []
        self.made, self.longest = 0, 0
        self._growths = 0
        self._seen = []
        self.regions.begin_case()

    def end(self) -> None:
        """Ends the runner, and waits for the end of the channel, which comes with the end of all its processes. This
        also detects frames that it sent during a call that was too short to check the channel."""
        Ranks([self]).end()

    def dismiss(self) -> None:
        try:
            self.channel.watch()
            self.channel.send(END)
        except RunnerGone:
            pass

    def call(self, draw: Callable[[], Any], flags: int = 0) -> Call:
        """Makes one call on an input from draw and returns its result. Raises BadAnswer, Refused, RunnerGone, and
        draw's exceptions."""
        made = Ranks([self]).call(lambda: [draw()], flags)
        (made.data,), (made.answer,) = made.data, made.answer
        return made

    def make_current(self) -> None:
        """Makes the runner's device the current one, if there are several."""
        if self.cuda is not None:
            self.cuda.make_current()

    def grow(self, size: int) -> None:
        """Shares at least this much memory for the answer. With a device, the answer may be in either memory; the host's has no
        more than the judge can compare there."""
        self.make_current()
        limits = {HOST: self.host.most_bytes()}
        if self.cuda is not None:
            limits[CUDA] = self.cuda.free_bytes() // 2
        most = limits[HOST if self.cuda is None else CUDA]
        if not 0 < size <= most:
            raise TooLarge(f"The answer takes {size} bytes, and there is room for {most}.")
        has = min(self.regions.bytes[ANSWERS, kind] for kind in limits)
        if size <= has:
            raise Refused(f"The runner asks for {size} bytes for its answer, and has {has}.")
        wanted = {(ANSWERS, kind): min(max(size, 2 * has), limit) for kind, limit in limits.items()}
        if all(self.regions.bytes[key] >= space for key, space in wanted.items()):
            raise TooLarge(f"The answer takes {size} bytes on the host, and there is room for {limits[HOST]}.")
        self._growths += 1
        if self._growths > _MOST_GROWTHS:
            raise Refused("The runner asks for more and more memory for its answer.")
        self._share(wanted)

    def reserve(self, size: int) -> None:
        """Shares memory for an answer of this size, unless the runner has enough."""
        if size > self.regions.bytes[ANSWERS, HOST if self.cuda is None else CUDA]:
            self.grow(size)

    def _share(self, wanted: dict[tuple[int, int], int]) -> None:
        self.regions.need(wanted)
        if self._version != self.regions.version:
            self._seen = []
            self.channel.send(CASE, *self.regions.case())
            self._version = self.regions.version

    def ask(self, data: Any, flags: int) -> _GatedCall:
        """Announces the next call, and returns it."""
        self.make_current()
        description, leaves = describe(data)
        self._share(self._wanted(leaves))
        differs = self._description is not None and self._description != description
        on_host = sum(leaf.span for leaf in leaves if leaf.kind == HOST) if self.cuda is not None else 0
        self.much_described = self.much_described or len(description) + on_host > _FEW_BYTES + _ENTRY_BYTES * len(leaves)
        self.early = self.early or differs or on_host > 0
        self._description = description
        self.number = (self.number + 1) & 0xFFFFFFFF or 1
        arrays = self._arrays(leaves) if self.cuda is not None else []
        self.page.begin(self.cuda.divide(arrays, self.regions.memory[INPUTS, CUDA].address) if self.cuda is not None else 0)
        if self.cuda is not None and self.early:
            self.cuda.choose_sealed()
        sent = perf_counter_ns()
        if self.cuda is not None:
            # The runner has this memory and may see the input arrive.
            self.write_host(self.regions.memory[INPUTS, HOST], leaves)
        follows = self.early and self.cuda is None
        self.channel.send(CALL, pack_call(self.number, flags | FOLLOWS, b"") if follows else pack_call(self.number, flags, description))
        if self.cuda is not None and not self.early:
            self.cuda.choose_sealed()  # while the runner queues the call
        return _GatedCall(self, data, leaves, arrays, sent, description if follows else b"", flags)

    def _arrays(self, leaves: Iterable[Leaf]) -> list[tuple[Any, Any]]:
        """Returns the arrays on the device: (the runner's, the judge's own), as tensors of bytes."""
        region = self.regions.memory[INPUTS, CUDA]
        return [(region.bytes[leaf.offset : leaf.offset + leaf.span], flat_bytes(leaf.value, leaf.span))
                for leaf in leaves if leaf.kind == CUDA and leaf.span]

    def expect(self) -> AnswerCopy:
        """Returns the described answer, with memory for its copy. Equal descriptions mean equal places."""
        text = self.page.description()
        described = dict(self._seen).get(text) or read(text, self.regions.sizes())
        size, most = sum(part.size for part in described[1] if part.kind == HOST), self.host.most_bytes()
        if size > most:  # arrays can overlap
            raise TooLarge(f"The answer takes {size} bytes, and there is room for {most}.")
        self._seen = [*self._seen[-1:], (text, described)]
        return AnswerCopy(*described, self.regions.memory, self.cuda)

    def foresee(self) -> tuple[bytes, AnswerCopy] | None:
        """Returns (description, answer) of the call before the last, because memory for answers is used in turns, or
        None. An answer with a plain value cannot be foreseen: no copy would show its arrival."""
        if not self._seen:
            return None
        text, described = self._seen[0]
        return None if is_plain(described[0]) else (text, AnswerCopy(*described, self.regions.memory, self.cuda))

    def as_foreseen(self) -> None:
        """Records that the last answer was the foreseen one."""
        self._seen = [*self._seen[-1:], self._seen[0]]

    def _wanted(self, leaves: Iterable[Leaf]) -> dict[tuple[int, int], int]:
        ends = sizes(leaves)
        wanted = {(INPUTS, HOST): ends[HOST], (ANSWERS, HOST): 1 << 20}
        if self.cuda is None:
            wanted[ANSWERS, HOST] = max(LEAST_ANSWERS, 2 * ends[HOST])
        else:
            wanted[INPUTS, CUDA], wanted[ANSWERS, CUDA] = ends[CUDA], max(LEAST_ANSWERS, 2 * ends[CUDA])
            wanted[SEALED, CUDA] = self.cuda.SEALED
        return wanted

    @staticmethod
    def write_host(memory: memoryview | bytearray, leaves: Iterable[Leaf]) -> None:
        for leaf in leaves:
            if leaf.kind == HOST:
                write_host(memory, leaf)


class _GatedCall:
    """_GatedCall is one call of one runner. Its methods are called in this order, each for all ranks before the next."""

    def __init__(self, runner: Runner, data: Any, leaves: list[Leaf], arrays: list[tuple[Any, Any]], sent: int,
                 follows: bytes, flags: int = 0) -> None:
        self.runner, self.data, self.sent, self.who = runner, data, sent, ""
        self.clock_runs, self._follows = runner.early and not follows, follows
        self._leaves, self._arrays, self._number = leaves, arrays, runner.number
        self.answer: AnswerCopy | None = None
        self._foreseen: bytes | None = None
        self.late, self._released, self._limitless = False, False, bool(flags & RANGE)

    def hold(self) -> None:
        """Waits until the runner has queued everything, or the limit has passed."""
        runner = self.runner
        runner.make_current()
        limit = EARLY_QUEUED_LIMIT_NS if self.clock_runs and runner.cuda is not None else QUEUED_LIMIT_NS
        self.late = runner.page.wait_queued(self._number, runner.channel, limit) is None
        if runner.cuda is None:
            return
        if not self.late:
            self.answer = runner.expect()  # on a device, the places are known before the release
        elif (foreseen := runner.foresee()) is not None:
            self._foreseen, self.answer = foreseen

    def poison(self) -> None:
        """Overwrites the last answer."""
        runner = self.runner
        runner.make_current()
        for part in runner.last:
            if part.role == "answers" and part.size:
                runner.regions.poison(part)

    def can_wait(self) -> bool:
        """Reports whether the device can wait until everything is queued."""
        self.runner.make_current()
        return self.runner.cuda is not None and self.runner.cuda.can_wait(self._arrays)

    def block(self) -> None:
        """Makes the device wait for start."""
        self.runner.make_current()
        if self.runner.cuda is not None:
            self.runner.cuda.block()

    def write(self) -> None:
        """Writes the input to the runner's places, flushes the caches, and keeps the device. This is timed from the
        first byte on: during an interruption, work of the runner may have run and seen the input. On the host the input
        is written into memory that the runner does not have yet."""
        runner, cuda = self.runner, self.runner.cuda
        runner.make_current()
        if cuda is None:
            runner.write_host(runner.regions.renew_input(), self._leaves)
            return
        cuda.write(self._arrays, self._number, runner.regions.memory[SEALED, CUDA].address)
        cuda.flush()
        cuda.hold()

    def announce(self) -> None:
        """Announces the release to the runner."""
        if self.runner.cuda is None:
            self.runner.page.announce(self._number)
            self.runner.regions.rehearse()

    def queue_copies(self, alone: bool = True) -> None:
        """Queues the copies. If the call is alone, the sample of its answer waits for its own "done", otherwise for
        all."""
        if self.answer is not None:
            self.runner.make_current()
            self.answer.queue(self.runner.page, self._number if alone else None)

    def start(self) -> None:
        """Starts the queued work on the device."""
        if self.runner.cuda is not None:
            self.runner.cuda.start()

    def wait_held(self) -> None:
        """Waits until the input is written and the device is kept."""
        if self.runner.cuda is not None:
            self.runner.make_current()
            self.runner.cuda.wait_held()

    def prepared(self) -> float:
        """Returns the duration of the preparation, after the call."""
        return 0.0 if self.runner.cuda is None else self.runner.cuda.writing_took()

    def let_in(self) -> None:
        """Lets the runner's gate run on the device in place of the judge's hold."""
        if self.runner.cuda is not None:
            self._key = self.runner.cuda.key
            self.runner.page.let_in(self._number)
            self.runner.cuda.let_go()

    def wait_active(self) -> None:
        """Waits until the gate reports that it runs. A gate that reports this too early has the change of contexts in its
        time."""
        if self.runner.cuda is not None:
            self.runner.page.wait_active(self._number, self.runner.channel, GATE_LIMIT_NS)

    def release(self) -> int:
        """Gives the runner its input. Returns the clock before that."""
        if self.runner.cuda is not None:
            begin = self.runner.page.open(self._number, self._key)
        elif self.runner.page.done == self._number:
            begin = None
        else:
            begin = perf_counter_ns()
            self.runner.regions.hand_over(self.runner.channel, self._follows)
            self.runner.page.release = self._number
        if begin is None:
            raise Refused("The runner said that a call had ended before it was released.")
        self._released = True
        return begin

    def leave(self) -> None:
        """Releases a call that will not be made, without an input: the runner waits for it."""
        self.runner.page.let_in(self._number)
        self.runner.page.release = self._number

    def done(self) -> int:
        """Waits until the runner is done. Returns the clock then."""
        longest = self.runner.longest
        limit = None if self._limitless or self.runner.made < UNLIMITED_CALLS else max(CALL_LIMIT_NS, CALL_LIMIT_FACTOR * longest)
        end = self.runner.page.wait_done(self._number, self.runner.channel, limit)
        if end is None:
            assert limit is not None
            raise Refused(f"A call had not ended after {limit / 1e9:.0f} s, and the longest before it took {longest / 1e9:.3g} s.")
        return end

    def unforeseen(self) -> bool:
        """Reports whether the answer's description is still unread. A call that was released late is described only
        when all of it is queued."""
        if self.answer is None and self.runner.cuda is None:
            return True
        if not self.late:
            return False
        if self.runner.page.wait_queued(self._number, self.runner.channel, AFTER_DONE_LIMIT_NS) is None:
            raise Refused(f"The runner said that a call had ended, and {AFTER_DONE_LIMIT_NS / 1e9:.0f} s later not that it was queued.")
        if self.answer is None or self.runner.page.description() != self._foreseen:
            return True
        self.runner.as_foreseen()
        return False

    def expect(self) -> None:
        """Reads the answer's description, and releases its copies."""
        self.runner.make_current()
        self.answer = self.runner.expect()
        self.queue_copies()
        self.open_gate()

    def open_gate(self) -> None:
        if self.runner.cuda is not None:
            self.runner.cuda.open_gate()

    def let_go(self) -> None:
        """Releases everything that waits. A gate without a release gets the end instead."""
        if self.runner.cuda is not None:
            self.runner.cuda.start()
            self.runner.cuda.let_go()
            self.runner.cuda.open_gate()
            self.runner.page.finish_waits(self._number)
            if not self._released:
                self.runner.page.leave(self._number)

    def sampled(self) -> bool:
        """Waits for the sample of the answer, if its description is known. Returns False without a sample."""
        if self.answer is None:
            return False
        self.runner.make_current()
        return self.answer.sampled()

    def take(self) -> None:
        """Copies the answer, if its description is known."""
        if self.answer is not None:
            self.runner.make_current()
            self.answer.take()

    def keep(self, took: int) -> None:
        """Records the duration of the call, marks the answer to be poisoned before the next call, and checks whether it
        still changed after "done"."""
        runner = self.runner
        assert self.answer is not None
        runner.last, runner.longest = self.answer.parts, max(runner.longest, took)
        runner.made += 1
        runner.make_current()
        if runner.cuda is not None and runner.cuda.changed():
            raise BadAnswer("The answer still changed when custom_kernel was said to be done: something of it ran on.")

    def event(self, most: int) -> float:
        return _limited(self.runner.page.wait_nanoseconds(self.runner.channel), most)


class Ranks:
    """Ranks are the runners that make calls together: one, or one for each GPU."""

    def __init__(self, runners: list[Runner]) -> None:
        self._runners = runners

    def ready(self, limit: float | None = None) -> None:
        for runner in self._runners:
            runner.ready(limit)

    def use(self, regions: Iterable[Regions]) -> None:
        for runner, theirs in zip(self._runners, regions):
            runner.use(theirs)

    def begin_case(self) -> None:
        for runner in self._runners:
            runner.begin_case()

    def end(self) -> None:
        for runner in self._runners:
            runner.dismiss()
        for runner in self._runners:
            runner.channel.wait_end()
            if runner.cuda is not None:
                runner.make_current()
                runner.cuda.forget(runner.page)

    def call(self, draw: Callable[[], list[Any]], flags: int = 0) -> Call:
        """Makes one call on inputs from draw, one for each rank. The result has lists of inputs and answers."""
        while True:
            try:
                return self._call(self._draw(draw), flags)
            except _NeedsRoom as need:
                need.runner.grow(need.size)

    def _draw(self, draw: Callable[[], list[Any]]) -> list[Any]:
        """Draws the inputs. If a device is too full for them, this is the submission's fault if the judge uses little
        of it."""
        try:
            return draw()
        except TaskFailed as failure:
            if any(runner.cuda is not None and runner.cuda.starved(failure.__cause__) for runner in self._runners):
                raise Refused(_STARVED) from failure
            raise

    def _call(self, inputs: list[Any], flags: int) -> Call:
        calls = [runner.ask(data, flags) for runner, data in zip(self._runners, inputs)]
        if len(calls) > 1:
            for rank, call in enumerate(calls):
                call.who = f"rank {rank}: "
        try:
            _for_each(calls, _GatedCall.hold)
        except (BadAnswer, _NeedsRoom):
            for call in calls:
                call.leave()
            raise
        try:
            at_once = self._prepare(calls)
            _for_each(calls, _GatedCall.announce)
            if self._runners[0].cuda is None:
                wait_for_wakeup()
            switched, begin, end, sampled, taken = self._release(calls)
        finally:  # always, because the process could not end otherwise
            for call in calls:
                call.let_go()
        _for_each(calls, lambda call: call.keep(end - begin))
        released, begin = begin, min([begin, *(call.sent for call in calls if call.clock_runs)])
        answers = [call.answer for call in calls if call.answer is not None]
        return Call(inputs, [answer.value() for answer in answers], max(call.event(end - begin) for call in calls),
                    end - begin, sampled - begin, taken - begin, any(call.late for call in calls), max(call.prepared() for call in calls), switched,
                    tuple(sum(part.size for part in answer.parts) for answer in answers),
                    sum(len(answer.parts) for answer in answers), begin, at_once, released - begin,
                    any(call.runner.early for call in calls))

    def _release(self, calls: list[_GatedCall]) -> tuple[int, int, int, int, int]:
        """Releases the calls. Returns the time that their devices took to switch to them, and the clock at the release,
        when the last was done, when all answers were sampled, and when all were copied. On a device, a call without a
        foreseen answer is done when its copies are queued: until then work could continue unseen."""
        held = perf_counter_ns()
        for call in calls:
            call.let_in()
        for call in calls:
            call.wait_active()
        begin = min([_run(call, call.release) for call in calls])
        end = max([_run(call, call.done) for call in calls])
        for call in calls:
            call.open_gate()
        sampled, taken = _copy_answers(calls, end)
        if unforeseen := [call for call in calls if _run(call, call.unforeseen)]:
            _for_each(unforeseen, _GatedCall.expect)
            if self._runners[0].cuda is not None:
                end = perf_counter_ns()
            sampled, taken = _copy_answers(unforeseen, end)
        return begin - held, begin, end, sampled, taken

    def _prepare(self, calls: list[_GatedCall]) -> bool:
        """Waits until all inputs are written and caches flushed, with the copies of the answers queued behind. Returns
        whether everything was queued before the devices began. If one device cannot wait, none does: loading a kernel
        for one may wait for another. Each is then kept as soon as its own input is written."""
        _for_each(calls, _GatedCall.poison)
        at_once = all([call.can_wait() for call in calls])
        if at_once:
            _for_each(calls, _GatedCall.block)
        _for_each(calls, _GatedCall.write)
        if self._runners[0].cuda is None:
            self._runners[0].host.flush()
        _for_each(calls, lambda call: call.queue_copies(len(calls) == 1))
        _for_each(calls, _GatedCall.start)
        _for_each(calls, _GatedCall.wait_held)
        return at_once


def _copy_answers(calls: list[_GatedCall], end: int) -> tuple[int, int]:
    """Copies the described answers. Returns the clock when all were sampled, end without a sample, and when all were
    copied."""
    sampled = perf_counter_ns() if any([_run(call, call.sampled) for call in calls]) else end
    _for_each(calls, _GatedCall.take)
    return sampled, perf_counter_ns()


def _for_each(calls: list[_GatedCall], step: Callable[[_GatedCall], object]) -> None:
    """Does one step of every call; an error names its rank."""
    for call in calls:
        _run(call, lambda: step(call))


def _run(call: _GatedCall, step: Callable[[], Any]) -> Any:
    try:
        return step()
    except NoRoom as need:
        raise _NeedsRoom(call.runner, need.args[0]) from None
    except (BadAnswer, Refused) as error:
        raise type(error)(f"{call.who}{error}") from None
    except Exception as error:
        if call.runner.cuda is not None and call.runner.cuda.starved(error):
            raise Refused(f"{call.who}{_STARVED}") from error
        raise


class _NeedsRoom(Exception):
    """Requests a repetition of the call with more memory for the answer."""

    def __init__(self, runner: Runner, size: int) -> None:
        self.runner, self.size = runner, size


def _limited(ns: float, most: float) -> float:
    """Returns the runner's clock, limited to a number between 1 and the judge's clock."""
    return min(max(ns, 1.0), float(most)) if ns == ns else float(most)
