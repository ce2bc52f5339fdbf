"""The device stays with the judge from the first byte of an input to the release: the last thing that the judge queues is
a kernel that spins until the release. Without it, a device that idles there goes to the runner's context too early now
and then: the hand-over was shorter by 75 µs in some calls, and a kernel that waited for the input had it early.

Where another context had a turn nevertheless, more time passes until the release, which counts.

Copy engines need no turn. Until the clock runs, pieces of the input, where nobody can foresee, are something else that
might stand there: what was copied before is not the input, and an answer made of it is wrong. They are taken out of the
judge's own array before it is copied, or there would be a moment in which the input is whole.
"""

import bisect
import ctypes
import functools
import itertools
import mmap
import secrets
import struct
from time import perf_counter_ns
from typing import NamedTuple

from warpboard_cuda import address_of, call, seen_by_device

_FIRST, _RESTORE_AT = 0, 1  # in words of eight bytes, by the device's clock
_HELD, _RESTORE, _RESTORED, _RELEASED = 32, 64, 96, 128  # in words of four bytes
_PIECES = 1024  # where their table begins; a row is five of eight words: see _Piece
_MOST_PIECES, _PIECE = 32, 512  # how many, and the bytes of one
_THREADS = 1024
_MOST_NS = 200_000_000  # it waits no longer for either, and takes so long then
_WAIT_NS = 30_000_000_000
# hold is one kernel, for the device looks between kernels whether another context has work, which takes it 70 µs.
_PTX = """
.version 6.3
.target sm_70
.address_size 64

.visible .entry begin(.param .u64 words)
{
    .reg .u64 at, now;
    ld.param.u64 at, [words];
    mov.u64 now, %globaltimer;
    st.volatile.global.u64 [at], now;
    ret;
}

.func spin(.reg .u64 word, .reg .u32 number, .reg .u64 most)
{
    .reg .u64 first, now, step;
    .reg .u32 seen;
    .reg .pred is;
    mov.u64 first, %globaltimer;
AGAIN:
    ld.volatile.global.u32 seen, [word];
    setp.eq.u32 is, seen, number;
    @is bra END;
    mov.u64 now, %globaltimer;
    sub.u64 step, now, first;
    setp.lt.u64 is, step, most;
    @is bra AGAIN;
END:
    ret;
}

.func read(.reg .u64 page, .reg .u64 table, .reg .u32 count)
{
    .reg .u64 at, value;
    .reg .u32 thread, end;
    .reg .pred is;
    mov.u32 thread, %tid.x;
    shl.b32 end, count, 3;
    setp.ge.u32 is, thread, end;
    @is bra DONE;
    mul.wide.u32 at, thread, 8;
    add.u64 page, page, at;
    add.u64 at, at, table;
    ld.volatile.global.u64 value, [page+1024];
    st.shared.u64 [at], value;
DONE:
    bar.sync 0;
    ret;
}

.func move(.reg .u64 table, .reg .u32 count, .reg .u64 into, .reg .u64 column)
{
    .reg .u64 row, to, source, words, at;
    .reg .u32 index, end, step, value;
    .reg .pred is;
    mov.u32 index, %tid.x;
    mov.u32 step, %ntid.x;
    shl.b32 end, count, 7;
NEXT:
    setp.ge.u32 is, index, end;
    @is bra DONE;
    shr.u32 value, index, 7;
    mul.wide.u32 row, value, 64;
    add.u64 row, row, table;
    ld.shared.u64 words, [row+32];
    add.u64 at, row, into;
    ld.shared.u64 to, [at];
    add.u64 at, row, column;
    ld.shared.u64 source, [at];
    and.b32 value, index, 127;
    add.u32 index, index, step;
    cvt.u64.u32 at, value;
    setp.ge.u64 is, at, words;
    @is bra NEXT;
    shl.b64 at, at, 2;
    add.u64 source, source, at;
    add.u64 to, to, at;
    ld.global.u32 value, [source];
    st.global.u32 [to], value;
    bra NEXT;
DONE:
    bar.sync 0;
    ret;
}

.visible .entry take_out(.param .u64 words, .param .u32 pieces)
{
    .shared .align 8 .b64 table[256];
    .reg .u64 at, rows, own, decoy, kept;
    .reg .u32 count;
    ld.param.u64 at, [words];
    ld.param.u32 count, [pieces];
    mov.u64 rows, table;
    mov.u64 own, 8;
    mov.u64 decoy, 16;
    mov.u64 kept, 24;
    call read, (at, rows, count);
    call move, (rows, count, kept, own);
    call move, (rows, count, own, decoy);
    ret;
}

.visible .entry hold(.param .u64 words, .param .u32 number, .param .u64 most, .param .u32 pieces)
{
    .shared .align 8 .b64 table[256];
    .reg .u64 at, now, limit, rows, word, to, own, kept;
    .reg .u32 mine, count, thread;
    .reg .pred other;
    ld.param.u64 at, [words];
    ld.param.u32 mine, [number];
    ld.param.u64 limit, [most];
    ld.param.u32 count, [pieces];
    mov.u32 thread, %tid.x;
    setp.ne.u32 other, thread, 0;
    mov.u64 rows, table;
    mov.u64 to, 0;
    mov.u64 own, 8;
    mov.u64 kept, 24;
    call read, (at, rows, count);
    call move, (rows, count, kept, kept);
    @other bra WAIT;
    membar.sys;
    st.volatile.global.u32 [at+128], mine;
    add.u64 word, at, 256;
    call spin, (word, mine, limit);
    mov.u64 now, %globaltimer;
    st.volatile.global.u64 [at+8], now;
WAIT:
    bar.sync 0;
    call move, (rows, count, to, kept);
    membar.sys;
    bar.sync 0;
    @other bra OWN;
    st.volatile.global.u32 [at+384], mine;
OWN:
    call move, (rows, count, own, kept);
    @other bra END;
    add.u64 word, at, 512;
    call spin, (word, mine, limit);
END:
    ret;
}
"""


class _Piece(NamedTuple):
    """A piece of an input, as words of four bytes: where the runner has it, in the judge's own array, what takes its place,
    and where it is kept meanwhile."""

    to: int
    own: int
    decoy: int
    kept: int
    words: int


class Hold:
    """For the context that is current when it is made. Blank is the address of memory with something else, a piece of it at
    the least; kept that of ROOM bytes."""

    ROOM = _MOST_PIECES * _PIECE

    def __init__(self, blank, kept):
        module = ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(_PTX.encode()))
        self._begin, self._take_out, self._hold = (_function(module, name) for name in ("begin", "take_out", "hold"))
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self._at = seen_by_device(address_of(self._memory), mmap.PAGESIZE)
        self._words, self._times = memoryview(self._memory).cast("I"), memoryview(self._memory).cast("Q")
        self._blank, self._kept, self._number, self._count = blank, kept, 0, 0

    def begin(self, arrays):
        """Marks the moment before the first byte is written, and has pieces of what is to be written taken out: of arrays
        of (where the runner has it, the judge's own, bytes)."""
        pieces = _pieces(arrays, self._blank, self._kept)  # first: it takes Python a part of a millisecond
        table = b"".join(struct.pack("5Q24x", *piece) for piece in pieces)
        self._memory[_PIECES : _PIECES + len(table)] = table
        self._count = len(pieces)
        self._begin(self._at)
        self._take_out(self._at, ctypes.c_uint32(self._count), threads=_THREADS)

    def take(self):
        """Queues the kernel behind what is to be written."""
        self._number = (self._number + 1) & 0xFFFFFFFF or 1
        self._hold(self._at, ctypes.c_uint32(self._number), ctypes.c_uint64(_MOST_NS), ctypes.c_uint32(self._count), threads=_THREADS)

    def taken(self):
        """Waits until it runs, and so all before it is written. Returns whether it does."""
        return self._says(_HELD)

    def restore(self):
        """Has the pieces put in their places, and waits for it; the clock runs. Returns whether they are."""
        self._words[_RESTORE] = self._number
        return self._says(_RESTORED)

    def let_go(self):
        self._words[_RESTORE] = self._words[_RELEASED] = self._number

    def took(self):
        """The nanoseconds from begin to restore, in which the runner's processors and copy engines can see most of the input,
        and where another context had a turn; only once the kernel has ended."""
        times = self._times
        return times[_RESTORE_AT] - times[_FIRST]

    def _says(self, word):
        words, number, end = self._words, self._number, perf_counter_ns() + _WAIT_NS
        while words[word] != number:
            if perf_counter_ns() > end:
                return False
        return True


def _pieces(arrays, blank, kept):
    """Pieces in random places of arrays that are aligned to words and share nothing with another; large ones have more of them.
    What takes a piece's place is another one of the array, now and then the same for several, so that the rest does not tell
    what is missing; blank in an array that has one."""
    apart = [(to, own, size // 4) for to, own, size in _apart(arrays) if (to | own) % 4 == 0 and size >= 4]
    if not apart:
        return []
    ends = list(itertools.accumulate(words for _, _, words in apart))
    chosen = []
    for i in range(_MOST_PIECES):  # half of them by size, or one large array would have them all
        which = bisect.bisect_right(ends, secrets.randbelow(ends[-1])) if i % 2 else secrets.randbelow(len(apart))
        to, own, words = apart[which]
        size = min(_PIECE // 4, words)
        at = 4 * secrets.randbelow(words - size + 1)
        chosen.append((which, to + at, own + at, size))
    return [_Piece(to, own, _decoy(chosen, i, blank, kept), kept + i * _PIECE, size)
            for i, (_, to, own, size) in enumerate(chosen)]


def _decoy(chosen, i, blank, kept):
    which, _, own, size = chosen[i]
    others = [k for k, (array, _, at, words) in enumerate(chosen) if array == which and at != own and words == size]
    return kept + secrets.choice(others) * _PIECE if others else blank


def _apart(arrays):
    """Those of which no byte is another's, too: views of one array are copied one after the other, and what is taken out for
    one would be missing in another."""
    found, end = [], 0
    ordered = sorted(arrays, key=lambda array: array[1])
    for i, array in enumerate(ordered):
        _, own, size = array
        if own >= end and (i + 1 == len(ordered) or own + size <= ordered[i + 1][1]):
            found.append(array)
        end = max(end, own + size)
    return found


def _function(module, name):
    found = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
    return functools.partial(_launch, found)


def _launch(function, *arguments, threads=1):
    """Launches one block on the default stream."""
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(it) for it in arguments))
    call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
