"""The protocol of judge and runner: channel, page, and regions, for both sides. Package evaluator/judge describes it.

The judge sends frames and descriptors through the channel, and checks everything that it reads from the page.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import select
import socket
import struct
import time
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DOOR_FD = 4  # in the judge's process
CHANNEL_FD, PAGE_FD = 4, 5  # in a runner's process, for the first rank; the pairs of further ranks follow
CASE, CALL, END, INPUT = 1, 2, 3, 4  # kinds of frames from judge to runner
READY = 1  # kind of the frame from runner to judge
HOST, CUDA = 0, 1  # kinds of regions
INPUTS, ANSWERS, SEALED = 0, 1, 2  # roles of regions
RANGE = 1  # flag of a call: the runner marks the call with a profiler range
FOLLOWS = 2  # flag of a call: the input's description comes with the release

PAGE_SIZE = 256 << 10
ANSWER_AT = 4096
ANSWER_ROOM = PAGE_SIZE - ANSWER_AT
_RELEASE, _QUEUED, _DONE, _SIZE, _SOON, _SEALED = 0, 16, 32, 48, 64, 80  # offsets in the page, in words of four bytes
_NS_AT = 136
DONE_AT, SOON_AT = 4 * _DONE, 4 * _SOON

_WORD = struct.Struct("<I")
_FRAME, _NUMBER, _REGION, _CALL = struct.Struct("<II"), struct.Struct("<d"), struct.Struct("<IIQ"), struct.Struct("<II")
_LOOK_NS, _WATCH_NS = 75_000, 5_000_000
_MOST_REGIONS = 5
_TIMER_SLACK = 29  # PR_SET_TIMERSLACK of prctl
_OUT_OF_TURN = "The submission's process wrote to the judge out of turn."


class RunnerGone(Exception):
    """The runner has ended, or has closed its end of the channel."""


class Refused(Exception):
    """The runner broke the protocol; the message is a sentence."""


class TooLarge(Refused):
    """An answer is larger than the available memory. The submission is responsible, because it chose the size, also if
    a call of our own runner raises this."""


class Page:
    """Page is the page of numbers that judge and runner share. Its words have 32 bits, so call numbers wrap around."""

    def __init__(self, fd: int) -> None:
        self.memory = mmap.mmap(fd, PAGE_SIZE)
        self._words = memoryview(self.memory)[:ANSWER_AT].cast("I")

    @property
    def release(self) -> int:
        return self._words[_RELEASE]

    @property
    def sealed(self) -> int:
        return self._words[_SEALED]

    def queue(self, number: int) -> None:
        self._words[_QUEUED] = number

    def say(self, ns: float) -> None:
        _NUMBER.pack_into(self.memory, _NS_AT, ns)

    def finish(self, number: int, ns: float) -> None:
        self.say(ns)
        self._words[_DONE] = number

    def describe(self, text: bytes) -> None:
        """Writes the answer's description, which must fit into ANSWER_ROOM."""
        self.memory[ANSWER_AT : ANSWER_AT + len(text)] = text
        self._words[_SIZE] = len(text)

    def description(self) -> bytes:
        """Returns a copy of the answer's description, which is read only once. Refuses an impossible size."""
        size = self._words[_SIZE]
        if size == 0 or size > ANSWER_ROOM:
            raise Refused(f"The runner's answer is described by {size} bytes, and {ANSWER_ROOM} are the most.")
        return bytes(self.memory[ANSWER_AT : ANSWER_AT + size])

    def address(self) -> int:
        """Returns the page's address in this process, for registering it with a device."""
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def wait_release(self, number: int, rehearse: Callable[[], None] | None = None) -> None:
        """Sleeps until the release is near, calls rehearse, and then spins until the release, because the time to wake
        up must not count as the call's. Returns after 5 ms even without a release."""
        words = self._words
        while words[_SOON] != number:
            time.sleep(_LOOK_NS / 1e9)
        if rehearse is not None:
            rehearse()
        end = perf_counter_ns() + _WATCH_NS
        while words[_RELEASE] != number and perf_counter_ns() < end:
            pass


def sleep_exactly() -> None:
    """Makes sleeps of this process end on time; by default the operating system adds up to 50 µs to each."""
    ctypes.CDLL(None).prctl(_TIMER_SLACK, ctypes.c_ulong(1), 0, 0, 0)


class Channel:
    """Channel is one end of the stream socket. The judge's end also has a life line: a pipe that closes at the end of
    the runner's last process, because a runner can fake the end of the socket."""

    def __init__(self, end: socket.socket, life_line: int | None = None) -> None:
        self._end, self._life_line = end, life_line

    @classmethod
    def inherited(cls, fd: int = CHANNEL_FD) -> Channel:
        return cls(socket.socket(fileno=fd))

    def fileno(self) -> int:
        return self._end.fileno()

    def send(self, kind: int, payload: bytes = b"", descriptors: Iterable[int] = ()) -> None:
        data = _FRAME.pack(kind, len(payload)) + payload
        try:
            sent = socket.send_fds(self._end, [data], list(descriptors)) if descriptors else 0
            self._end.sendall(data[sent:])
        except OSError as error:
            raise RunnerGone from error

    def receive(self) -> tuple[int | None, bytes | bytearray, list[int]]:
        """Returns the next frame from the other end: (kind, payload, descriptors). kind is None if the channel is
        closed."""
        descriptors: list[int]
        head, descriptors = b"", []
        while len(head) < _FRAME.size:
            try:
                part, given, _, _ = socket.recv_fds(self._end, _FRAME.size - len(head), _MOST_REGIONS)
            except OSError:
                part, given = b"", []
            descriptors += given
            if not part:
                return None, b"", []
            head += part
        kind, size = _FRAME.unpack(head)
        payload = bytearray(size)
        view = memoryview(payload)
        while view:
            view = view[self._end.recv_into(view) :]
        return kind, payload, descriptors

    def ready(self, limit: float | None = None) -> None:
        """Waits for the runner's only frame, READY, at most limit seconds. The operating system closes descriptors that
        the runner sends with it, because the judge receives without a buffer for them."""
        head = b""
        self._end.settimeout(limit)
        while len(head) < _FRAME.size:
            try:
                part = self._end.recv(_FRAME.size - len(head))
            except TimeoutError:
                raise Refused(f"The submission was not loaded within {limit:.0f} s, and in the process before it was.") from None
            except OSError:
                part = b""
            if not part:
                raise RunnerGone
            head += part
        self._end.settimeout(None)
        if _FRAME.unpack(head) != (READY, 0):
            raise Refused(_OUT_OF_TURN)

    def watch(self) -> None:
        """Raises if the runner has ended or has sent a forbidden frame, or if this end is closed."""
        if self._end.fileno() < 0:
            raise RunnerGone
        readable, _, _ = select.select([self._end], [], [], 0)
        if not readable:
            return
        try:
            data = self._end.recv(1, socket.MSG_PEEK)
        except OSError:
            data = b""
        if data:
            raise Refused(_OUT_OF_TURN)
        raise RunnerGone

    def wait_end(self) -> None:
        """Waits until all processes of the runner have ended. For our own runner, which has no life line, waits for the
        end of the socket."""
        try:
            while self._end.recv(1 << 12):
                pass
        except OSError:
            pass
        if self._life_line is not None:
            os.read(self._life_line, 1)
        self.close()

    def close(self) -> None:
        """Closes this end of the channel. The processes of the runner may continue."""
        self._end.close()
        if self._life_line is not None:
            os.close(self._life_line)
            self._life_line = None


class Door:
    """Door is the socket from which the judge gets its runners, one after the other."""

    def __init__(self) -> None:
        self._end = socket.socket(fileno=DOOR_FD)

    def next(self) -> tuple[int, Channel, Page] | None:
        """Waits for the next runner, and returns (number, channel, page). Returns None if there are no more runners."""
        number, ends, _, _ = socket.recv_fds(self._end, _WORD.size, 3)
        if len(ends) != 3:
            return None
        channel, page = Channel(socket.socket(fileno=ends[0]), ends[2]), Page(ends[1])
        os.close(ends[1])
        return _WORD.unpack(number)[0], channel, page

    def close(self) -> None:
        self._end.close()

    def over(self, number: int) -> None:
        """Tells the worker that a runner gets no more calls. The worker kills the runner if it does not exit."""
        try:
            self._end.send(_WORD.pack(number))
        except OSError:
            pass  # the worker no longer listens, because it ends the stage


def pack_case(regions: Iterable[tuple[int, int, int]]) -> bytes:
    """Returns the CASE frame's payload for (kind, role, size) of each region."""
    return b"".join(_REGION.pack(*region) for region in regions)


def unpack_case(payload: bytes | bytearray) -> list[tuple[int, ...]]:
    return [_REGION.unpack_from(payload, at) for at in range(0, len(payload), _REGION.size)]


def pack_call(number: int, flags: int, description: bytes) -> bytes:
    return _CALL.pack(number, flags) + description


def unpack_call(payload: bytes | bytearray) -> tuple[int, int, memoryview]:
    """Returns (number, flags, description) of the payload of a CALL frame."""
    number, flags = _CALL.unpack_from(payload)
    return number, flags, memoryview(payload)[_CALL.size :]


def shared_memory(size: int) -> int:
    """Returns a new memfd that cannot be shrunk, so that reading it never fails. The caller closes it."""
    fd = os.memfd_create("warpboard", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    F_ADD_SEALS, F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW = 1033, 1, 2, 4
    fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)
    return fd
