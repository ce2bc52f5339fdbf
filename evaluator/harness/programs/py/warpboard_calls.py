"""Gated calls, as the judge makes them: the input of a call exists only when the runner has queued everything, and
the judge's clock runs from the release until the runner is done, and until the answer is in the judge's hands.
"""

import ctypes
import mmap
import os
import resource
import secrets
from dataclasses import dataclass
from time import perf_counter_ns

from warpboard_answer import BadAnswer, NoRoom, build, read
from warpboard_layout import describe, flat_bytes, sizes, write_host
from warpboard_wire import ANSWERS, CALL, CASE, CUDA, END, HOST, INPUT, INPUTS, Refused, RunnerGone, pack_call, pack_case, shared_memory

_LONGEST_HOLD_NS = 10_000_000  # after this a call is released that has not been queued: it waits for the device
_LEAST_ANSWERS = 64 << 20
_MOST_GROWTHS = 6  # of one case: a call that has to be repeated is one that was made on an input of the runner's choice
_ROLES = {INPUTS: "inputs", ANSWERS: "answers"}


class TaskFailed(Exception):
    """Says in a sentence what the task's own code did wrong."""


@dataclass
class Call:
    """What one call gave. Times in nanoseconds, as the judge's clock has them: nothing is subtracted."""

    data: object  # the judge's own input
    answer: object
    event: float  # the runner's clock
    wall: float  # release to done
    snapshot: float  # release to answer in the judge's hands
    late: bool  # released before it was queued
    early: bool  # its description told of the input before the release: the clock began with it
    prepared: float  # how long the device took to write the input and flush caches
    size: int  # bytes of the answer


class HostMemory:
    """Regions in host memory, and caches of the CPU."""

    def __init__(self):
        self._cold = bytearray(_flush_bytes())
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._cold))
        self._fill = 0

    @staticmethod
    def most_bytes():
        """How large an answer may be: the judge copies and compares it. Its largest file is as large as its memory."""
        limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        return 16 << 30 if limit == resource.RLIM_INFINITY else limit // 4

    def flush(self):
        self._fill = (self._fill + 1) % 256
        ctypes.memset(self._address, self._fill, len(self._cold))

    @staticmethod
    def region(size):
        """New memory to share: (mapping, descriptor to send)."""
        fd = shared_memory(size)
        return mmap.mmap(fd, size), fd


class Regions:
    """The shared memory, by (role, kind). It grows when a case needs more, and then is all new."""

    def __init__(self, host, cuda):
        self._host, self._cuda = host, cuda
        self.memory, self.bytes = {}, {}
        self._descriptors = {}
        self.version = 0

    def wipe(self):
        """Forgets what is in the memory, before another runner gets it."""
        for (_, kind), memory in self.memory.items():
            if kind == CUDA:
                memory.bytes.fill_(0xFF)
            else:
                memory.madvise(mmap.MADV_REMOVE)

    def need(self, wanted):
        """Sees to it that each region has at least the bytes that are wanted."""
        if all(self.bytes.get(key, -1) >= size for key, size in wanted.items()):
            return
        for key in {**self.bytes, **wanted}:
            size = max(wanted.get(key, 0), self.bytes.get(key, 0))
            if key in self._descriptors:
                os.close(self._descriptors.pop(key))
            self._renew(key, size)
        self.version += 1

    def _renew(self, key, size):
        old = self.memory.pop(key, None)
        if key[1] == CUDA:
            if old is not None:
                old.close()
            self.memory[key], self._descriptors[key] = self._cuda.region(size)
            self.bytes[key] = self.memory[key].size
        else:
            self.memory[key], self._descriptors[key] = self._host.region(max(size, 4096))
            self.bytes[key] = len(self.memory[key])

    def renew_input(self):
        """Puts new memory in place of the host's inputs, which the runner gets with the release. What it keeps of the
        old ones is emptied, or it could fill the judge's memory."""
        self.memory[INPUTS, HOST].madvise(mmap.MADV_REMOVE)
        os.close(self._descriptors.pop((INPUTS, HOST)))
        self._renew((INPUTS, HOST), self.bytes[INPUTS, HOST])

    @property
    def input(self):
        """The descriptor of the host's inputs."""
        return self._descriptors[INPUTS, HOST]

    def case(self):
        """The CASE frame's (payload, descriptors)."""
        layout = [(kind, role, self.bytes[role, kind]) for role, kind in self._descriptors]
        return pack_case(layout), list(self._descriptors.values())

    def sizes(self):
        return {(_ROLES[role], kind): size for (role, kind), size in self.bytes.items()}


class Runner:
    """A runner as the judge sees it: on the other side of a channel and a page. Two of them may share regions."""

    def __init__(self, channel, page, regions, host, cuda):
        self._channel, self._page, self._regions = channel, page, regions
        self._host, self._cuda = host, cuda
        self._number = secrets.randbelow(1 << 30) + 1
        self._version = 0  # of the regions that it has been told of
        self._told = None  # the description of the case's last call
        self._early = False
        self._growths = 0  # of the answers' memory, in this case
        self.last = []  # parts of the last answer
        self._described = self._read = None  # the last answer's description, and what it says

    def ready(self):
        self._channel.ready()

    def use(self, regions):
        """Has calls from now on use other memory."""
        self._regions, self._version = regions, 0

    def begin_case(self):
        self._told, self._early, self.last = None, False, []
        self._growths = 0
        self._described = None

    def end(self):
        """Lets the runner go, and waits until nothing of it is left: the channel ends when it is all dead. What it wrote
        into the channel in a call that was too short to look meanwhile is seen now."""
        try:
            self._channel.watch()
            self._channel.send(END)
        except RunnerGone:
            pass
        self._channel.wait_end()

    def call(self, draw, flags=0):
        """Makes one call on the input that draw makes and returns what it gave. Raises BadAnswer, Refused,
        RunnerGone and what draw raises."""
        while True:
            try:
                return self._call(draw, flags)
            except NoRoom as need:
                self._grow(need.args[0])

    def _grow(self, size):
        kinds = [HOST] if self._cuda is None else [HOST, CUDA]
        most = self._host.most_bytes() if self._cuda is None else self._cuda.free_bytes() // 2
        if not 0 < size <= most:
            raise Refused(f"The answer takes {size} bytes, and there is room for {most}.")
        has = min(self._regions.bytes[ANSWERS, kind] for kind in kinds)
        if size <= has:
            raise Refused(f"The runner asks for {size} bytes for its answer, and has {has}.")
        self._growths += 1
        if self._growths > _MOST_GROWTHS:
            raise Refused("The runner asks for more and more memory for its answer.")
        self._share({(ANSWERS, kind): max(size, min(2 * has, most)) for kind in kinds})

    def _share(self, wanted):
        self._regions.need(wanted)
        if self._version != self._regions.version:
            self._channel.send(CASE, *self._regions.case())
            self._version = self._regions.version

    def _call(self, draw, flags):
        data = self._draw(draw)
        description, leaves = describe(data)
        self._share(self._wanted(leaves))
        told = self._told is not None and self._told != description
        self._early = self._early or told or (self._cuda is not None and any(leaf.kind == HOST for leaf in leaves))
        self._told = description
        self._number = (self._number + 1) & 0xFFFFFFFF or 1
        number, page, cuda = self._number, self._page, self._cuda
        sent = perf_counter_ns()
        if cuda is not None:
            self._write_host(leaves)  # the runner has this memory and may see it come
        self._channel.send(CALL, pack_call(number, flags, description))
        late = page.wait_queued(number, self._channel, _LONGEST_HOLD_NS) is None
        # On a device, what lies where is said before the release.
        answer = self._expect_early(number) if cuda is not None and not late else None
        prepared = self._prepare(leaves)
        if cuda is None:
            page.announce(number)
        if page.done == number:
            raise Refused("The runner said that a call had ended before it was released.")
        begin, end, taken, answer = self._release(number, answer)
        self.last = answer.parts
        if cuda is not None and cuda.changed():
            raise BadAnswer("The answer still changed when custom_kernel was said to be done: something of it ran on.")
        begin = sent if self._early else begin
        return Call(data, answer.value(), _number(page.nanoseconds, end - begin), end - begin, taken - begin,
                    late, self._early, prepared(), sum(part.size for part in answer.parts))

    def _draw(self, draw):
        """An input. A device without room for one is the submission's doing where the judge has little of it."""
        try:
            return draw()
        except TaskFailed as failure:
            if self._cuda is not None and self._cuda.starved(failure.__cause__):
                raise Refused("The submission's process left too little of the device's memory.") from failure
            raise

    def _expect_early(self, number):
        """The answer before the release. The runner waits for that, also where there is nothing to take."""
        try:
            return self._expect()
        except (BadAnswer, NoRoom):
            self._page.release = number
            raise

    def _release(self, number, answer):
        """Lets the call go. Returns the clock then, when it was done and when its answer had been taken, and the
        answer, which is read only now where it was not known before."""
        page, cuda = self._page, self._cuda
        if answer is not None:
            answer.queue()
        try:
            begin = perf_counter_ns()
            if cuda is None:
                self._channel.send(INPUT, b"", [self._regions.input])
            page.release = number
            end = page.wait_done(number, self._channel)
            if answer is None:
                answer = self._expect()
                answer.queue()
            answer.take()
            return begin, end, perf_counter_ns(), answer
        finally:
            if cuda is not None:
                cuda.open_gate()  # whatever happened: this process could not end otherwise

    def _expect(self):
        """The answer as the runner describes it, with room for a copy. The same description as that of the call
        before means the same."""
        text = self._page.description()
        if text != self._described:
            self._described, self._read = text, read(text, self._regions.sizes())
        return _Answer(*self._read, self._regions.memory, self._cuda)

    def _wanted(self, leaves):
        ends = sizes(leaves)
        wanted = {(INPUTS, HOST): ends[HOST], (ANSWERS, HOST): 1 << 20}
        if self._cuda is None:
            wanted[ANSWERS, HOST] = max(_LEAST_ANSWERS, 2 * ends[HOST])
        else:
            wanted[INPUTS, CUDA], wanted[ANSWERS, CUDA] = ends[CUDA], max(_LEAST_ANSWERS, 2 * ends[CUDA])
        return wanted

    def _prepare(self, leaves):
        """Writes the input where the runner is to find it, poisons the last answer and flushes caches. Returns what
        tells how long the device took from the first byte of the input on: while that was interrupted, something of
        the runner's may have run, and have seen the input.

        On the host the input is written into memory that the runner does not have yet."""
        for part in self.last:
            if part.role == "answers" and part.size:
                self._poison(part)
        if self._cuda is None:
            self._regions.renew_input()
            self._write_host(leaves)
            self._host.flush()
            return lambda: 0.0
        cuda, region = self._cuda, self._regions.memory.get((INPUTS, CUDA))
        cuda.begin_writing()
        for leaf in leaves:
            if leaf.kind == CUDA and leaf.span:
                region.bytes[leaf.offset : leaf.offset + leaf.span].copy_(flat_bytes(leaf.value, leaf.span))
        cuda.flush()
        cuda.end_writing()
        return cuda.writing_took

    def _write_host(self, leaves):
        for leaf in leaves:
            if leaf.kind == HOST:
                write_host(self._regions.memory[INPUTS, HOST], leaf)

    def _poison(self, part):
        memory = self._regions.memory[ANSWERS, part.kind]
        end = part.offset + part.size
        if part.kind == CUDA:
            if end <= memory.size:
                memory.bytes[part.offset : end].fill_(0xFF)
        elif end <= len(memory):
            ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(memory, part.offset)), 0xFF, part.size)


class _Answer:
    """An answer on its way into memory of the judge's."""

    def __init__(self, tree, parts, memory, cuda):
        self.parts, self._tree, self._cuda = parts, tree, cuda
        self._sources = [memory[INPUTS if part.role == "inputs" else ANSWERS, part.kind] if part.size else None for part in parts]
        self._copies = [_room(part) for part in parts]

    def queue(self):
        """Queues the copies of what lies on the device, so that take only has to let them go."""
        if self._cuda is not None:
            self._cuda.queue_copies([(copy.data_ptr(), source.address + part.offset, part.size)
                                     for part, source, copy in self._filled() if part.kind == CUDA])

    def take(self):
        """Copies the parts, and returns when the copies are there."""
        if self._cuda is not None:
            self._cuda.open_gate()
        for part, source, copy in self._filled():
            if part.kind == HOST:
                _copy_blocks(copy, _bytes_of(source, part.offset, part.size))
        if self._cuda is not None:
            self._cuda.synchronize()

    def _filled(self):
        return [it for it in zip(self.parts, self._sources, self._copies) if it[0].size]

    def value(self):
        try:
            return build(self._tree, [_shaped(part, copy) for part, copy in zip(self.parts, self._copies)])
        except Exception as error:  # whatever NumPy and torch say to a shape that cannot be
            raise Refused(f"The runner described an answer that cannot be: {error}.") from None


def _room(part):
    if part.kind == CUDA:
        import torch

        return torch.empty(part.size, dtype=torch.uint8, device="cuda")
    import numpy

    return numpy.empty(part.size, "uint8")


def _shaped(part, copy):
    """The array or tensor of a part, of the bytes that were copied."""
    if part.name == "tensor":
        if part.kind == HOST:
            import torch

            copy = torch.from_numpy(copy)
        return copy.view(part.dtype).as_strided(part.shape, part.strides)
    import numpy

    array = numpy.ndarray(part.shape, part.dtype, copy, 0, tuple(s * part.dtype.itemsize for s in part.strides))
    return array[()] if part.name == "scalar" else array


def _bytes_of(memory, offset, size):
    import numpy

    return numpy.frombuffer(memory, "uint8", size, offset)


_BLOCK = 1 << 18


def _copy_blocks(target, source):
    """Copies in an order that nobody can foresee: on the host the runner could otherwise go on behind the copy."""
    starts = list(range(0, len(source), _BLOCK))
    secrets.SystemRandom().shuffle(starts)
    for start in starts:
        target[start : start + _BLOCK] = source[start : start + _BLOCK]


def _number(ns, most):
    """What the runner's clock says, within what it can: a number between 1 and what the judge's clock says."""
    return min(max(ns, 1.0), float(most)) if ns == ns else float(most)


def _flush_bytes():
    """Twice the last-level cache, within what is sensible when the system does not tell it or tells that of a whole
    socket."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (ValueError, OSError):
        cache = 0
    return min(max(2 * cache, 16 << 20), 64 << 20)
