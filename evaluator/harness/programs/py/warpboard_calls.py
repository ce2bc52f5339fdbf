"""Gated calls from the judge's side: the input of a call exists only when the runner has queued everything, and the
judge's clocks run from the release to the runner's "done", and to the judge's copy of the answer.

If the ranks of a task for several GPUs make a call together, each has its input, the release is one for all, and the
clocks run until the last of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns

from warpboard_answer import BadAnswer, NoRoom, is_plain, read
from warpboard_answer_copy import AnswerCopy
from warpboard_core import CoreRunner, Together
from warpboard_layout import describe, sizes, write_host
from warpboard_limits import EARLY_QUEUED_LIMIT_NS, LEAST_ANSWERS, QUEUED_LIMIT_NS
from warpboard_wire import ANSWERS, CALL, CASE, CUDA, END, FOLLOWS, HOST, INPUTS, SEALED, Refused, RunnerGone, TooLarge, pack_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from warpboard_answer import Part
    from warpboard_core import HostInput, Times
    from warpboard_judge_cuda import JudgeMemory
    from warpboard_layout import Leaf
    from warpboard_regions import HostMemory, Regions
    from warpboard_wire import Channel, Page


# The usual number of bytes of an input that the runner has before the release (its description, and arrays on the
# host): a few plain numbers, and an entry for each array with type, shape, offset, and name. Without a name, an entry
# takes 33 to 55 bytes.
_FEW_BYTES, _ENTRY_BYTES = 128, 80
_LARGE_HOST_BYTES = 64 << 10  # with more bytes of arrays on the host, in a call on a device, Runner.keep_host has an effect
_STARVED = "The submission's process left too little of the device's memory."
# Limits how often the memory for answers grows in a case. After each growth the call is repeated with new inputs, so a
# runner that asked for growth again and again could choose among inputs.
_MOST_GROWTHS = 6


class TaskFailed(Exception):
    """The task's own code failed; the message is a sentence."""


@dataclass
class Call:
    """Call is the result of one call. Times are in nanoseconds on the judge's clock, with nothing subtracted. For a
    call of ranks, data, answer, and sizes have one item per rank."""

    data: Any  # the input, in the judge's memory
    answer: Any
    event: float  # kernel time by the runner's clock; the largest of all ranks
    wall: float  # time from release to done; if the answer was not predicted, until its copies were queued
    sampled: float  # time from release to the sample of the answer; wall without a sample
    snapshot: float  # time from release until the judge has copied the answer
    late: bool  # the call was released before it was queued
    prepared: float  # time from writing the first byte of the input on the device until let_go
    switched: float  # time from let_go until the runner's gate ran
    sizes: tuple[int, ...]  # bytes of each runner's answer
    parts: int  # number of arrays and tensors in the answers
    begin: int  # the judge's clock at the release
    at_once: bool = False  # all work before the release was queued before the device began it
    described: float = 0.0  # time from description to release, if the clock starts with the description
    early: bool = False  # the input's description differs between calls, and so reveals something
    keeps_host: bool | None = None  # Runner.keeps_host
    written: int = 0  # bytes of the input on the device

    @property
    def size(self) -> int:
        return sum(self.sizes)


class Runner:
    """Runner is the judge's side of a runner: its channel, its page, and its shared memory. Two runners may share
    regions."""

    def __init__(self, channel: Channel, page: Page, regions: Regions, host: HostMemory,
                 cuda: JudgeMemory | None) -> None:
        self.channel, self.page, self.regions = channel, page, regions
        self.host, self.cuda = host, cuda
        if cuda is not None:
            cuda.make_current()
            self.core = cuda.core.runner(channel, page)
        else:
            self.core = CoreRunner(None, channel, page)
        self.number = 0
        self._version = 0  # version of the regions that the runner has mapped
        self._written = 0  # version of the regions that the last arrays on the host were written to
        # The description of the case's last input for the runner: a pickle without the contents of arrays (see
        # describe).
        self._description: bytes | None = None

        # True if descriptions of the case's inputs differ, and so reveal something of them. On a device the clock then
        # starts with the description. On the host, the description is then sent with the release, because the judge
        # flushes caches before, which takes milliseconds.
        self.early = False
        self.much_described = False  # the runner had more than a few numbers of an input before the release
        self._host_bytes = 0  # size of the last input's arrays on the host, in a call on a device
        # True if calls on a device are made without new arrays on the host, because the kernel does not need them. None if
        # they are made with new ones, and the time before the release does not count. False if that time counts, too.
        self.keeps_host: bool | None = None
        self._growths = 0  # how often the answers' memory has grown in this case
        self.last: list[Part] = []  # parts of the last answer; on a device, only its parts on the host

        # The descriptions of the last two answers, with their trees and parts.
        self._seen: list[tuple[bytes, tuple[list[Any], list[Part]]]] = []

    def ready(self, limit: float | None = None) -> None:
        self.channel.ready(limit)

    def use(self, regions: Regions) -> None:
        """Makes the next calls use these regions."""
        self.regions, self._version = regions, 0
        self._forget_answer()

    def forget(self) -> None:
        """Makes the judge's own runner release the memory of the last case."""
        self.channel.send(CASE)
        self._version, self._seen = 0, []
        self._forget_answer()

    def begin_case(self) -> None:
        self._description, self.early, self.much_described = None, False, False
        self._host_bytes, self.keeps_host = 0, None
        self._growths = 0
        self._seen = []
        self._forget_answer()
        self.regions.begin_case()

    def _forget_answer(self) -> None:
        """Forgets the last answer, and the durations of calls."""
        self.last = []
        self.core.begin_case()

    def end(self) -> None:
        """Ends the runner, and waits for the end of the channel, which comes with the end of all its processes. This
        also detects frames that the runner sent in a call that was too short to check the channel."""
        Ranks([self]).end()

    def dismiss(self) -> None:
        try:
            self.channel.watch()
            self.channel.send(END)
        except RunnerGone:
            pass

    def call(self, draw: Callable[[], Any], flags: int = 0, during: Callable[[], None] | None = None) -> Call:
        """Makes one call on an input from draw and returns its result. Raises BadAnswer, Refused, RunnerGone, and
        draw's exceptions. The function during, which must not fail, is called while the runner queues its work, unless
        the clock has started."""
        made = Ranks([self]).call(lambda: [draw()], flags, during)
        (made.data,), (made.answer,) = made.data, made.answer
        return made

    def keep_host(self) -> None:
        """Makes the case's next calls on a device without new arrays on the host, if these are large, until needs_host is
        called. The runner has those of the last call. It could work on new ones before the release."""
        if self.keeps_host is None and self._host_bytes > _LARGE_HOST_BYTES:
            self.keeps_host, self.early, self.much_described = True, False, False

    def needs_host(self) -> bool:
        """Returns whether the last call was made without new arrays on the host, so that its answer may be wrong for that
        reason. The case's next calls are then made with new ones, and the time to write them counts."""
        if not self.keeps_host:
            return False
        self.keeps_host = False
        return True

    def make_current(self) -> None:
        """Makes the runner's device the current one, if there are several."""
        if self.cuda is not None:
            self.cuda.make_current()

    def grow(self, size: int) -> None:
        """Shares at least size bytes for the answer. With a device, an answer may be in device or host memory, so both
        grow; the host's is limited to what the judge can compare there."""
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
            self._seen, self.last = [], []
            self.core.forget_answer()
            self.channel.send(CASE, *self.regions.case())
            self._version = self.regions.version

    def ask(self, data: Any, flags: int) -> _GatedCall:
        """Announces the next call, and returns it."""
        self.make_current()
        description, leaves = describe(data)
        self._share(self._wanted(leaves))
        differs = self._description is not None and self._description != description
        on_host = self._host_bytes = sum(leaf.span for leaf in leaves if leaf.kind == HOST) if self.cuda is not None else 0
        if self.keeps_host and differs:
            self.needs_host()  # the last call's arrays may have other places
        writes_host = not self.keeps_host or self._written != self._version
        if self.keeps_host:
            on_host = 0
        self.much_described = self.much_described or len(description) + on_host > _FEW_BYTES + _ENTRY_BYTES * len(leaves)
        self.early = self.early or differs or on_host > 0
        self._description = description
        if self.cuda is None:
            return self._ask_host(data, leaves, description, flags)
        inputs, sealed = self.regions.memory[INPUTS, CUDA].address, self.regions.memory[SEALED, CUDA].address
        self.number = self.core.begin_call(flags, [(inputs + leaf.offset, leaf.value.data_ptr(), leaf.span)
                                                   for leaf in leaves if leaf.kind == CUDA and leaf.span], inputs, sealed)
        sent = perf_counter_ns()
        if writes_host:
            # after sent, because the runner has this memory mapped and may read the input
            self.write_host(self.regions.memory[INPUTS, HOST], leaves)
            self._written = self._version
        self.channel.send(CALL, pack_call(self.number, flags, description))
        return _DeviceCall(self, data, sent, leaves)

    def _ask_host(self, data: Any, leaves: list[Leaf], description: bytes, flags: int) -> _HostCall:
        self.number = self.core.begin_call(flags)
        sent = perf_counter_ns()
        self.channel.send(CALL, pack_call(self.number, flags | FOLLOWS, b"") if self.early else pack_call(self.number, flags, description))
        return _HostCall(self, data, sent, leaves, description if self.early else b"")

    def expect(self) -> AnswerCopy:
        """Reads the answer's description, and returns the answer with memory for its copy. A description that equals an
        earlier one is not parsed again."""
        text = self.page.description()
        described = dict(self._seen).get(text) or read(text, self.regions.sizes())
        size, most = sum(part.size for part in described[1] if part.kind == HOST), self.host.most_bytes()
        if size > most:  # possible although each array lies in a region: arrays can overlap
            raise TooLarge(f"The answer takes {size} bytes, and there is room for {most}.")
        self._seen = [*self._seen[-1:], (text, described)]
        return AnswerCopy(*described, self.regions.memory)

    def foresee(self) -> tuple[bytes, AnswerCopy] | None:
        """Predicts the next answer: returns (description, answer) of the call before the last, because runners often
        alternate between two memories for answers. Returns None for an answer with a plain value, because no copy would
        show when it arrives."""
        if not self._seen:
            return None
        text, described = self._seen[0]
        return None if is_plain(described[0]) else (text, AnswerCopy(*described, self.regions.memory))

    def as_foreseen(self) -> None:
        """Records that the last answer was the one that foresee returned."""
        self._seen = [*self._seen[-1:], self._seen[0]]

    def _wanted(self, leaves: Iterable[Leaf]) -> dict[tuple[int, int], int]:
        ends = sizes(leaves)
        wanted = {(INPUTS, HOST): ends[HOST], (ANSWERS, HOST): 1 << 20}
        if self.cuda is None:
            wanted[ANSWERS, HOST] = max(LEAST_ANSWERS, 2 * ends[HOST])
        else:
            wanted[INPUTS, CUDA], wanted[ANSWERS, CUDA] = ends[CUDA], max(LEAST_ANSWERS, 2 * ends[CUDA])
            wanted[SEALED, CUDA] = self.cuda.core.sealed_bytes
        return wanted

    @staticmethod
    def write_host(memory: memoryview | bytearray, leaves: Iterable[Leaf]) -> None:
        for leaf in leaves:
            if leaf.kind == HOST:
                write_host(memory, leaf)


class _GatedCall:
    """_GatedCall is one call of one runner. For a call of several ranks, each step is done for all of them before the
    next."""

    late = False
    prepared = 0.0  # nanoseconds in which the judge wrote the input
    written = 0  # bytes of the input on the device

    def __init__(self, runner: Runner, data: Any, sent: int) -> None:
        self.runner, self.data, self.sent, self.who = runner, data, sent, ""
        self.answer: AnswerCopy | None = None

    @property
    def core(self) -> CoreRunner:
        return self.runner.core

    def hold(self) -> None:
        """Waits until the runner has queued everything, or the limit has passed."""
        raise NotImplementedError

    def leave(self) -> None:
        """Releases a call without an input, because the runner waits for it, but it will not be used."""
        self.core.leave()

    def starts_early(self) -> bool:
        """Reports whether the clock starts with the description."""
        return False

    def poison(self) -> None:
        """Overwrites the last answer on the host."""
        for part in self.runner.last:
            if part.role == "answers" and part.size:
                self.runner.regions.poison(part)

    def event(self, most: int) -> float:
        return _limited(self.core.read_event(), most)


class _HostCall(_GatedCall):
    """_HostCall is a call that waits on the host."""

    def __init__(self, runner: Runner, data: Any, sent: int, leaves: list[Leaf], follows: bytes) -> None:
        super().__init__(runner, data, sent)
        self._leaves, self._follows = leaves, follows

    def hold(self) -> None:
        self.late = not self.core.wait_queued(QUEUED_LIMIT_NS)

    def write(self) -> None:
        """Writes the input into memory that the runner does not have yet."""
        self.poison()
        self.runner.write_host(self.runner.regions.renew_input(), self._leaves)

    def input(self) -> HostInput:
        """Returns the input to send at the release, after a trial run that warms the caches."""
        self.runner.regions.rehearse()
        return self.runner.regions.host_input(self._follows)

    def take(self) -> None:
        """Copies the answer to the judge's memory."""
        self.answer = self.runner.expect()
        self.answer.take()

    def keep(self, took: int) -> None:
        """Records the duration of the call, and marks the answer to be poisoned before the next one."""
        assert self.answer is not None
        self.runner.last = self.answer.parts
        self.core.end_call([], took)


class _DeviceCall(_GatedCall):
    """_DeviceCall is a call that waits on a device."""

    _foreseen: bytes | None = None

    def __init__(self, runner: Runner, data: Any, sent: int, leaves: list[Leaf]) -> None:
        super().__init__(runner, data, sent)
        self._leaves = leaves  # keeps the arrays alive, because the core has their addresses
        self.written = sum(leaf.span for leaf in leaves if leaf.kind == CUDA)

    def starts_early(self) -> bool:
        return self.runner.early

    def hold(self) -> None:
        runner = self.runner
        runner.make_current()
        limit = EARLY_QUEUED_LIMIT_NS if runner.early else QUEUED_LIMIT_NS
        self.late = not self.core.wait_queued(max(limit - (perf_counter_ns() - self.sent), 0))
        if not self.late:
            self.answer = runner.expect()  # the description is known before the release
        elif (foreseen := runner.foresee()) is not None:
            self._foreseen, self.answer = foreseen
        if self.answer is not None:
            self.core.set_answer(self.answer.on_device())

    def leave(self) -> None:
        self.core.leave()

    def unforeseen(self) -> bool:
        """Reports whether the answer still has to be read from its description, because foresee did not predict it. A
        call that was released late is described only when all of it is queued."""
        if not self.late:
            return False
        self.core.wait_described()
        if self.answer is None or self.runner.page.description() != self._foreseen:
            return True
        self.runner.as_foreseen()
        return False

    def expect(self, times: Times) -> None:
        """Reads the runner's description of an answer that was not known before the release, and queues the copies of
        the answer's parts on the device to the judge's memory."""
        self.runner.make_current()
        self.answer = self.runner.expect()
        self.core.set_answer(self.answer.on_device())
        self.core.queue_answer(times)

    def keep(self, took: int) -> None:
        """Records the duration of the call, marks the answer to be poisoned before the next call, and checks whether it
        still changed after "done"."""
        assert self.answer is not None
        self.runner.last = [part for part in self.answer.parts if part.kind == HOST]
        changed, self.prepared = self.core.end_call(self.answer.on_device("answers"), took)
        if changed:
            raise BadAnswer("The answer still changed when custom_kernel was said to be done: something of it ran on.")


class Ranks:
    """Ranks are the runners that make each call at the same time: one, or one for each GPU."""

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

    def keep_host(self) -> None:
        for runner in self._runners:
            runner.keep_host()

    def keeps_host(self) -> bool:
        """Returns whether calls are made without new arrays on the host."""
        return any(runner.keeps_host for runner in self._runners)

    def needs_host(self) -> bool:
        return any([runner.needs_host() for runner in self._runners])

    def end(self) -> None:
        for runner in self._runners:
            runner.dismiss()
        for runner in self._runners:
            runner.channel.wait_end()
            runner.core.close()

    def call(self, draw: Callable[[], list[Any]], flags: int = 0, during: Callable[[], None] | None = None) -> Call:
        """Makes one call on inputs from draw, one for each rank. The result has lists of inputs and answers. See
        Runner.call for during."""
        while True:
            try:
                return self._call(self._draw(draw), flags, during)
            except _NeedsRoom as need:
                _unless_starved([need.runner], lambda: need.runner.grow(need.size))

    def _draw(self, draw: Callable[[], list[Any]]) -> list[Any]:
        """Draws the inputs. If a device has too little memory for them and the judge uses little of it, the submission
        is refused."""
        try:
            return draw()
        except TaskFailed as failure:
            if any(runner.cuda is not None and runner.cuda.starved(failure.__cause__) for runner in self._runners):
                raise Refused(_STARVED) from failure
            raise

    def _call(self, inputs: list[Any], flags: int, during: Callable[[], None] | None) -> Call:
        calls: list[Any] = []
        try:
            for rank, runner in enumerate(self._runners):
                calls.append(_unless_starved([runner], lambda: runner.ask(inputs[rank], flags)))
                calls[rank].who = f"rank {rank}: " if len(self._runners) > 1 else ""
            if during is not None and not any(call.starts_early() for call in calls):
                during()
            _for_each(calls, lambda call: call.hold())
        except Exception:  # a process whose device waits for a release could not end
            for call in calls:
                call.leave()
            raise
        at_once, switched, begin, end, sampled, taken = _on_devices(calls) if self._runners[0].cuda else _on_hosts(calls)
        _for_each(calls, lambda call: call.keep(end - begin))
        released, begin = begin, min([begin, *(call.sent for call in calls if call.starts_early())])
        answers = [call.answer for call in calls if call.answer is not None]
        return Call(inputs, [answer.value() for answer in answers], max(call.event(end - begin) for call in calls),
                    end - begin, sampled - begin, taken - begin, any(call.late for call in calls), max(call.prepared for call in calls), switched,
                    tuple(sum(part.size for part in answer.parts) for answer in answers),
                    sum(len(answer.parts) for answer in answers), begin, at_once, released - begin,
                    any(call.runner.early for call in calls), _joined([call.runner.keeps_host for call in calls]),
                    max(call.written for call in calls))


def _on_hosts(calls: list[Any]) -> tuple[bool, int, int, int, int, int]:
    """Makes calls on the host. Returns the same as _on_devices."""
    _for_each(calls, _HostCall.write)
    calls[0].runner.host.flush()
    times = Together(call.core for call in calls).call_on_host([call.input() for call in calls])
    _for_each(calls, _HostCall.take)
    begin, end = int(times.released), int(times.done)
    return False, 0, begin, end, end, perf_counter_ns()


def _on_devices(calls: list[Any]) -> tuple[bool, int, int, int, int, int]:
    """Makes calls on devices. Returns (at_once, switched, released, done, sampled, copied): at_once is True if all work
    was queued before the devices began to write the inputs, switched is the time that the devices took to switch to the
    runners, and the others are times on the judge's clock: of the release, the last "done", and when all answers were
    sampled and copied. A call whose answer was not predicted counts as done when its copies are queued, because work
    could continue unseen until then."""
    together = Together(call.core for call in calls)
    try:
        _for_each(calls, _DeviceCall.poison)
        runners = [call.runner for call in calls]
        at_once = _unless_starved(runners, lambda: together.prepare(runners[0].cuda.cold))
        times = _unless_starved(runners, together.release)
        _copy_host_parts(calls)
        taken = together.wait_copied()
        if unforeseen := [call for call in calls if _run(call, call.unforeseen)]:
            _for_each(unforeseen, lambda call: call.expect(times))
            _copy_host_parts(unforeseen)
            taken = Together(call.core for call in unforeseen).wait_copied()
    finally:  # also after a failure, because a process whose device waits could not end
        together.let_go()
    return at_once, int(times.switched), int(times.released), int(times.done), int(times.sampled), int(taken)


def _joined(keep: list[bool | None]) -> bool | None:
    """Returns keeps_host of a call from that of its runners: False if one is False, else True if one is True."""
    return False if False in keep else True in keep or None


def _copy_host_parts(calls: list[_DeviceCall]) -> None:
    """Copies the parts of described answers on the host."""
    _for_each([call for call in calls if call.answer is not None], lambda call: call.answer.take())


def _for_each(calls: list[Any], step: Callable[[Any], object]) -> None:
    """Does one step of every call. The message of an error names the rank."""
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


def _unless_starved(runners: list[Runner], step: Callable[[], Any]) -> Any:
    """Does a step. If a device runs out of memory because of the submission, raises Refused."""
    try:
        return step()
    except RuntimeError as error:
        if any(runner.cuda is not None and runner.cuda.starved(error) for runner in runners):
            raise Refused(_STARVED) from error
        raise


class _NeedsRoom(Exception):
    """Requests a repetition of the call with more memory for the answer."""

    def __init__(self, runner: Runner, size: int) -> None:
        self.runner, self.size = runner, size


def _limited(ns: float, most: float) -> float:
    """Returns ns, the time on the runner's clock, limited to at least 1 and at most most, the time on the judge's
    clock. NaN becomes most."""
    return min(max(ns, 1.0), float(most)) if ns == ns else float(most)
