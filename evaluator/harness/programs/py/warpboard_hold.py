"""The choice of the sealed parts of an input (warpboard_seal), and the hold, by which the judge keeps the device from
the first byte of an input until all of it is written: the judge's last kernel spins until the judge ends it. If another
context has a turn in spite of this, writing takes longer, which counts.

Small arrays are sealed whole: their places hold 0xFF until the release. Of larger ones, pieces in unpredictable places
are sealed; other plausible data stand there until the release. Pieces are taken out of the judge's array before it is
copied: otherwise the input would be whole for a moment.
"""

from __future__ import annotations

import bisect
import ctypes
import itertools
import mmap
import os
import secrets
import struct
from time import perf_counter_ns
from typing import NamedTuple

from warpboard_cuda import address_of, queue_wait, seen_by_device
from warpboard_limits import (
    HELD_LIMIT_NS, HOLD_LIMIT_NS, MOST_PIECES, MOST_RECORDS, MOST_ROWS, MOVE_THREADS, RECORD_TAG, RECORD_WORDS, SEAL_THREADS)
from warpboard_seal import PART, PARTS, RECORD_BYTES, REGISTERS, block, each_word, function, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_MOST_WHOLE = MOST_RECORDS - MOST_PIECES  # records of small arrays
_PIECE = 4 * RECORD_WORDS  # bytes of a piece
_FIRST, _LET_GO_AT = 0, 1  # in words of eight bytes, by the device's clock
_HELD, _LET_GO, _START = 32, 64, 96  # in words of four bytes
_PIECES = 1024  # offset of their table; a row has four of eight words: see _Piece
_ROWS = _PIECES + 64 * MOST_PIECES  # offset of the table of sealed arrays: see _Row
_SIZE = _ROWS + 32 * MOST_ROWS

_PTX = f"""
.version 6.3
.target sm_70
.address_size 64

.visible .entry begin(.param .u64 words)
{{
    .reg .u64 at, now;
    ld.param.u64 at, [words];
    mov.u64 now, %globaltimer;
    st.volatile.global.u64 [at], now;
    ret;
}}

.visible .entry seal(.param .u64 p_rows, .param .u32 p_count, .param .u32 p_records, .param .u32 p_k0, .param .u32 p_k1,
                     .param .u32 p_k2, .param .u32 p_number, .param .u64 p_into)
{{
    .shared .align 8 .b8 table[{32 * MOST_ROWS}];
    .reg .u64 rows, shared, into, own, first, skipped, left;
    .reg .u32 count, row, next, low;
    {REGISTERS}
    ld.param.u64 rows, [p_rows];
    ld.param.u32 count, [p_count];
    ld.param.u32 most, [p_records];
    ld.param.u32 k0, [p_k0];
    ld.param.u32 k1, [p_k1];
    ld.param.u32 k2, [p_k2];
    ld.param.u32 number, [p_number];
    ld.param.u64 into, [p_into];
    mov.u64 shared, table;
    {PART}
    shl.b32 most, most, 3;
    shl.b32 t, count, 2;
    mov.u32 next, thread;
COPY:
    setp.ge.u32 is, next, t;
    @is bra COPIED;
    mul.wide.u32 at, next, 8;
    add.u64 from, rows, at;
    add.u64 to, shared, at;
    ld.volatile.global.u64 t8, [from];
    st.shared.u64 [to], t8;
    add.u32 next, next, threads;
    bra COPY;
COPIED:
    bar.sync 0;
    setp.ge.u32 outside, part, most;
    @outside bra END;
    mov.u32 row, 0;
SEARCH:
    add.u32 next, row, 1;
    setp.ge.u32 is, next, count;
    @is bra FOUND;
    mul.wide.u32 at, next, 32;
    add.u64 at, at, shared;
    ld.shared.u64 first, [at+24];
    cvt.u32.u64 t, first;
    setp.gt.u32 is, t, record;
    @is bra FOUND;
    mov.u32 row, next;
    bra SEARCH;
FOUND:
    mul.wide.u32 at, row, 32;
    add.u64 at, at, shared;
    ld.shared.u64 own, [at];
    ld.shared.u64 place, [at+8];
    ld.shared.u64 left, [at+16];
    ld.shared.u64 first, [at+24];
    cvt.u64.u32 skipped, record;
    sub.u64 skipped, skipped, first;
    shl.b64 skipped, skipped, 7;
    sub.u64 left, left, skipped;
    min.u64 left, left, {RECORD_WORDS};
    cvt.u32.u64 words, left;
    add.u64 place, place, skipped;
    mul.wide.u32 at, record, {RECORD_BYTES};
    add.u64 at, at, into;
    mul.wide.u32 to, within, 64;
    add.u64 to, to, at;
    cvt.u64.u32 t8, offset;
    add.u64 from, skipped, t8;
    shl.b64 from, from, 2;
    add.u64 from, from, own;
    mul.lo.u32 index, record, {1 + PARTS};
    setp.ne.u32 other, within, 0;
    @other bra DATA;
    {block("index", "ROUND_OF_HEADER")}
    xor.b32 x0, x0, {RECORD_TAG};
    xor.b32 x1, x1, words;
    cvt.u32.u64 low, place;
    xor.b32 x2, x2, low;
    shr.u64 high, place, 32;
    cvt.u32.u64 low, high;
    xor.b32 x3, x3, low;
    st.global.v4.u32 [at], {{x0, x1, x2, x3}};
DATA:
    add.u32 index, index, within;
    add.u32 index, index, 1;
    {block("index", "ROUND_OF_DATA")}
    {each_word("add.u32 t, offset, {i};", "setp.lt.u32 is, t, words;", "mov.u32 d{i}, 0;", "@is ld.global.u32 d{i}, [from+{at}];",
               "xor.b32 d{i}, d{i}, x{i};", "st.global.u32 [to+{data}], d{i};")}
END:
    ret;
}}

.func read(.reg .u64 page, .reg .u64 table, .reg .u32 count)
{{
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
    ld.volatile.global.u64 value, [page+{_PIECES}];
    st.shared.u64 [at], value;
DONE:
    bar.sync 0;
    ret;
}}

.func move(.reg .u64 table, .reg .u32 count, .reg .u64 into, .reg .u64 column)
{{
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
    ld.shared.u64 words, [row+24];
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
}}

.visible .entry take_out(.param .u64 words, .param .u32 pieces)
{{
    .shared .align 8 .b64 table[{8 * MOST_PIECES}];
    .reg .u64 at, rows, own, decoy, kept;
    .reg .u32 count;
    ld.param.u64 at, [words];
    ld.param.u32 count, [pieces];
    mov.u64 rows, table;
    mov.u64 own, 0;
    mov.u64 decoy, 8;
    mov.u64 kept, 16;
    call read, (at, rows, count);
    call move, (rows, count, kept, own);
    call move, (rows, count, own, decoy);
    ret;
}}

.visible .entry hold(.param .u64 words, .param .u32 number, .param .u64 most, .param .u32 pieces)
{{
    .shared .align 8 .b64 table[{8 * MOST_PIECES}];
    .reg .u64 at, first, now, step, limit, rows, own, kept;
    .reg .u32 mine, count, seen, thread;
    .reg .pred is;
    ld.param.u64 at, [words];
    ld.param.u32 mine, [number];
    ld.param.u64 limit, [most];
    ld.param.u32 count, [pieces];
    mov.u64 rows, table;
    mov.u64 own, 0;
    mov.u64 kept, 16;
    call read, (at, rows, count);
    call move, (rows, count, own, kept);
    mov.u32 thread, %tid.x;
    setp.ne.u32 is, thread, 0;
    @is bra END;
    membar.sys;
    st.volatile.global.u32 [at+{4 * _HELD}], mine;
    mov.u64 first, %globaltimer;
AGAIN:
    ld.volatile.global.u32 seen, [at+{4 * _LET_GO}];
    mov.u64 now, %globaltimer;
    setp.eq.u32 is, seen, mine;
    @is bra LET_GO;
    sub.u64 step, now, first;
    setp.lt.u64 is, step, limit;
    @is bra AGAIN;
LET_GO:
    st.volatile.global.u64 [at+{8 * _LET_GO_AT}], now;
    membar.sys;
END:
    ret;
}}
"""


class _Row(NamedTuple):
    """_Row is a sealed array: the judge's array, its place in the runner (in words from the region's beginning), its
    number of words, and its first record."""

    own: int
    place: int
    words: int
    first: int


class _Piece(NamedTuple):
    """_Piece is a piece of a large array: its place in the judge's array, its substitute, its place until it is moved
    back, and its words."""

    own: int
    decoy: int
    kept: int
    words: int


class Hold:
    """Hold keeps the device for the context that is current at construction. blank is the address of memory with other
    data, at least as large as a piece; kept that of ROOM bytes."""

    ROOM = MOST_PIECES * _PIECE
    SEALED = MOST_RECORDS * RECORD_BYTES  # size of the records' region

    def __init__(self, blank: int, kept: int) -> None:
        module = load(_PTX)
        self._begin, self._seal, self._take_out, self._hold = (function(module, name) for name in ("begin", "seal", "take_out", "hold"))
        self._memory = mmap.mmap(-1, _SIZE)
        self._at = seen_by_device(address_of(self._memory), _SIZE)
        self._rows = ctypes.c_uint64(self._at.value + _ROWS)
        self._words, self._times = memoryview(self._memory).cast("I"), memoryview(self._memory).cast("Q")
        self._blank, self._kept, self._number, self._count, self._blocked = blank, kept, 0, 0, 0
        self.key: tuple[int, ...] = (0, 0, 0)
        self.whole: frozenset[int] = frozenset()
        self._sealed, self._records, self._inputs = 0, 0, 0
        self._division = _Division([], frozenset(), [], 0)
        self._load()

    def _load(self):
        """Launches each kernel without data. Loading one may wait for the device, which fails while that is blocked."""
        none = ctypes.c_uint32(0)
        self._begin(self._at)
        self._seal(self._rows, *[none] * 6, ctypes.c_uint64(0), blocks=1, threads=SEAL_THREADS)
        self._take_out(self._at, none, threads=MOVE_THREADS)
        self._hold(self._at, none, ctypes.c_uint64(0), none, threads=MOVE_THREADS)

    def divide(self, arrays: Iterable[tuple[int, int, int]], inputs: int) -> int:
        """Divides the arrays (place in the runner, the judge's array, bytes); whole then has the places of those that are sealed
        whole. inputs is the address of the region. Returns the number of records."""
        self._division, self._inputs = _Division.of(arrays, inputs), inputs
        self.whole, self._records = self._division.whole, self._division.all_records()
        return self._records

    def choose(self) -> None:
        """Chooses the sealed parts of the arrays."""
        rows, pieces = self._division.choose(self._inputs, self._blank, self._kept)
        self._put(_ROWS, b"".join(struct.pack("4Q", *row) for row in rows))
        self._put(_PIECES, b"".join(struct.pack("4Q32x", *piece) for piece in pieces))
        self._sealed, self._count = len(rows), len(pieces)

    def block(self) -> None:
        """Makes the device wait for start. Until then, call nothing that waits for the device."""
        self._blocked = (self._blocked + 1) & 0xFFFFFFFF
        queue_wait(ctypes.c_uint64(self._at.value + 4 * _START), self._blocked)

    def start(self) -> None:
        self._words[_START] = self._blocked

    def begin(self, number: int, records: int) -> None:
        """Marks the moment before the first byte is written, seals the chosen parts for call number, and takes pieces
        out. records is the address of the region."""
        self.key = struct.unpack("3I", os.urandom(12))
        self._begin(self._at)
        if self._sealed:
            words = (self._sealed, self._records, *self.key, number)
            self._seal(self._rows, *map(ctypes.c_uint32, words), ctypes.c_uint64(records), blocks=-(-self._records * PARTS // SEAL_THREADS), threads=SEAL_THREADS)
        if self._count:
            self._take_out(self._at, ctypes.c_uint32(self._count), threads=MOVE_THREADS)

    def _put(self, at, table):
        self._memory[at : at + len(table)] = table

    def queue(self) -> None:
        """Queues the kernel behind the writes."""
        self._number = (self._number + 1) & 0xFFFFFFFF or 1
        self._hold(self._at, ctypes.c_uint32(self._number), ctypes.c_uint64(HOLD_LIMIT_NS), ctypes.c_uint32(self._count), threads=MOVE_THREADS)

    def wait_running(self) -> bool:
        """Waits until the kernel runs, when everything before it is written. Returns False if it does not."""
        words, number, end = self._words, self._number, perf_counter_ns() + HELD_LIMIT_NS
        while words[_HELD] != number:
            if perf_counter_ns() > end:
                return False
        return True

    def let_go(self) -> None:
        self._words[_LET_GO] = self._number

    def duration(self) -> int:
        """Returns the nanoseconds from begin to let_go in which the runner's processors and copy engines can see the
        unsealed parts, and in which another context had a turn. Call it only after the kernel has ended."""
        return self._times[_LET_GO_AT] - self._times[_FIRST]


class _Division(NamedTuple):
    """_Division divides the arrays of an input into small ones, which are sealed whole, and large ones (place in the runner,
    place in the judge's array, words). Arrays that are not aligned to words are in neither, and of large ones those that share
    memory with another."""

    rows: list[_Row]
    whole: frozenset[int]  # the places of small arrays in the runner
    large: list[tuple[int, int, int]]
    records: int  # of the small arrays

    @classmethod
    def of(cls, arrays: Iterable[tuple[int, int, int]], inputs: int) -> _Division:
        rows: list[_Row]
        rows, records, whole, rest = [], 0, [], []
        for to, own, size in sorted(arrays, key=lambda array: array[2]):
            needed = -(-(size // 4) // RECORD_WORDS)
            if not _aligned(to, own, size) or len(rows) + MOST_PIECES >= MOST_ROWS or records + needed > _MOST_WHOLE:
                rest.append((to, own, size))
                continue
            rows.append(_Row(own, (to - inputs) // 4, size // 4, records))
            records += needed
            whole.append(to)
        large = [(to, own, size // 4) for to, own, size in _apart(rest) if _aligned(to, own, size)]
        return cls(rows, frozenset(whole), large, records)

    def all_records(self) -> int:
        """Returns the number of records with those of the pieces."""
        return self.records + (MOST_PIECES if self.large else 0)

    def choose(self, inputs: int, blank: int, kept: int) -> tuple[list[_Row], list[_Piece]]:
        """Chooses the pieces. Returns the rows of all sealed parts, and the pieces."""
        if not self.large:
            return self.rows, []
        chosen = _pieces(self.large)
        decoys = [blank if other is None else kept + other * _PIECE for other in _decoys(chosen)]
        pieces = [_Piece(own, decoy, kept + i * _PIECE, size) for i, ((_, _, own, size), decoy) in enumerate(zip(chosen, decoys))]
        rows = [_Row(own, (to - inputs) // 4, size, self.records + i) for i, (_, to, own, size) in enumerate(chosen)]
        return [*self.rows, *rows], pieces


def _pieces(large):
    """Returns pieces in random places: (index of the array, place in the runner, place in the judge's array, words).
    Large arrays have more pieces."""
    ends = list(itertools.accumulate(words for _, _, words in large))
    numbers = struct.unpack(f"{2 * MOST_PIECES}Q", os.urandom(16 * MOST_PIECES))
    chosen = []
    for i, (first, second) in enumerate(zip(numbers[::2], numbers[1::2])):  # half by size, or one array would have them all
        which = bisect.bisect_right(ends, first % ends[-1]) if i % 2 else first % len(large)
        to, own, words = large[which]
        size = min(RECORD_WORDS, words)
        at = 4 * (second % (words - size + 1))
        chosen.append((which, to + at, own + at, size))
    return chosen


def _decoys(chosen):
    """Yields the index of each piece's substitute: another piece of the same array, sometimes the same for several, so
    that the rest does not reveal the missing one. It is None in an array with one piece."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, (which, _, _, size) in enumerate(chosen):
        groups.setdefault((which, size), []).append(i)
    several = {key for key, group in groups.items() if len({chosen[i][2] for i in group}) > 1}
    for (which, _, own, size), number in zip(chosen, struct.unpack(f"{len(chosen)}I", os.urandom(4 * len(chosen)))):
        group = groups[which, size]
        other = None
        if (which, size) in several:
            other = group[number % len(group)]
            while chosen[other][2] == own:
                other = secrets.choice(group)
        yield other


def _aligned(to, own, size):
    return (to | own) % 4 == 0 and size >= 4


def _apart(arrays):
    """Returns the arrays that share no byte with others: views of one array are copied one after the other, and a piece
    taken out for one would be missing in another."""
    found, end = [], 0
    ordered = sorted(arrays, key=lambda array: array[1])
    for i, array in enumerate(ordered):
        _, own, size = array
        if own >= end and (i + 1 == len(ordered) or own + size <= ordered[i + 1][1]):
            found.append(array)
        end = max(end, own + size)
    return found
