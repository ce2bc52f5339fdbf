"""The device stays with the judge from the first byte of an input to the release: the last thing that the judge queues is
a kernel that spins until the release. Without it, a device that idles there goes to the runner's context too early now
and then: the hand-over was shorter by 75 µs in some calls, and a kernel that waited for the input had it early.

Where another context had a turn nevertheless, the kernel sees a gap.

Copy engines need no turn. Until the clock runs, pieces of the input, where nobody can foresee, are something else that
might stand there: what was copied before is not the input, and an answer made of it is wrong. They are taken out of the
judge's own array before it is copied, or there would be a moment in which the input is whole.
"""

import ctypes
import functools
import mmap
import secrets
import struct
from time import perf_counter_ns
from typing import NamedTuple

from warpboard_cuda import address_of, call, seen_by_device

_FIRST, _BEGAN_AT, _GAP = 0, 1, 2  # in words of eight bytes, by the device's clock
_HELD, _RESTORE, _RESTORED, _RELEASED = 32, 64, 96, 128  # in words of four bytes
_PIECES = 1024  # where their table begins; a row is five of eight words: see _Piece
_MOST_PIECES, _PIECE = 32, 512  # how many, and the bytes of one
_THREADS = 1024
_MOST_NS = 200_000_000  # the kernel ends after that in any case, and says that all of it was a gap
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

.func spin(.reg .u64 word, .reg .u32 number, .reg .u64 most, .reg .u64 gap_at)
{
    .reg .u64 first, last, now, gap, step;
    .reg .u32 seen;
    .reg .pred is;
    mov.u64 first, %globaltimer;
    mov.u64 last, first;
    ld.volatile.global.u64 gap, [gap_at];
AGAIN:
    ld.volatile.global.u32 seen, [word];
    mov.u64 now, %globaltimer;
    sub.u64 step, now, last;
    max.u64 gap, gap, step;
    mov.u64 last, now;
    setp.eq.u32 is, seen, number;
    @is bra END;
    sub.u64 step, now, first;
    setp.lt.u64 is, step, most;
    @is bra AGAIN;
    mov.u64 gap, step;
END:
    st.volatile.global.u64 [gap_at], gap;
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
    .reg .u64 at, now, limit, rows, gap_at, word, to, own, kept;
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
    add.u64 gap_at, at, 16;
    @other bra WAIT;
    mov.u64 now, 0;
    st.volatile.global.u64 [gap_at], now;
    mov.u64 now, %globaltimer;
    st.volatile.global.u64 [at+8], now;
    membar.sys;
    st.volatile.global.u32 [at+128], mine;
    add.u64 word, at, 256;
    call spin, (word, mine, limit, gap_at);
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
    call spin, (word, mine, limit, gap_at);
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
    """For the context that is current when it is made. Blank is the address of memory with something else, for arrays
    that are held back as a whole; kept that of ROOM bytes."""

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
        self._begin(self._at)
        pieces = _pieces(arrays, self._blank, self._kept)
        table = b"".join(struct.pack("5Q24x", *piece) for piece in pieces)
        self._memory[_PIECES : _PIECES + len(table)] = table
        self._count = len(pieces)
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
        """The nanoseconds from begin to the release in which something else could run; only once the kernel has ended."""
        times = self._times
        return times[_BEGAN_AT] - times[_FIRST] + times[_GAP]

    def _says(self, word):
        words, number, end = self._words, self._number, perf_counter_ns() + _WAIT_NS
        while words[word] != number:
            if perf_counter_ns() > end:
                return False
        return True


def _pieces(arrays, blank, kept):
    """The pieces of arrays. Nothing of an array that is not aligned to words is held back."""
    found = []
    share = max(1, _MOST_PIECES // max(1, len(arrays)))
    for to, own, size in arrays:
        words, room, first = size // 4, min(share, _MOST_PIECES - len(found)), len(found)
        if (to | own) % 4 != 0:
            continue
        if size <= room * _PIECE or room < 2:
            for at in range(0, 4 * words, _PIECE)[:room]:
                found.append(_Piece(to + at, own + at, blank, kept + len(found) * _PIECE, min(_PIECE // 4, words - at // 4)))
            continue
        stretch = words // room
        for i in range(room):
            at = 4 * (i * stretch + secrets.randbelow(stretch - _PIECE // 4 + 1))
            another = kept + (first + (i + 1) % room) * _PIECE
            found.append(_Piece(to + at, own + at, another, kept + len(found) * _PIECE, _PIECE // 4))
    return found


def _function(module, name):
    found = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
    return functools.partial(_launch, found)


def _launch(function, *arguments, threads=1):
    """Launches one block on the default stream."""
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(it) for it in arguments))
    call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)
