"""Sealed inputs: parts of an input are encrypted in memory that judge and runner map, and the release has the key. The
runner's gate, a kernel that already runs, decrypts them and writes them to their places.

So the device need not change contexts between the release and the runner's first work, and until the release no copy
engine, processor, or kernel can read the missing parts.

A record is a header of 64 bytes (a tag, its words, and its place as words from the beginning of the inputs' region) and
eight parts of 64, each encrypted with a block of ChaCha8.
"""

from __future__ import annotations

import ctypes
import functools

from warpboard_cuda import call
from warpboard_limits import GATE_THREADS, RECORD_PARTS as PARTS, RECORD_TAG, RECORD_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

RECORD_BYTES = 64 + 4 * RECORD_WORDS
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)


def block(index: str, label: str) -> str:
    """Returns PTX that computes block number index (a register) of the cipher in x0 to x15. Its key is in k0 to k2;
    number is the call's number. It is short: code that is not in a device's caches loads slowly."""
    first = [*_CONSTANTS, "k0", "k1", "k2", "number", 0, 0, 0, 0, index, 0, 0, 0]
    lines = [f"mov.u32 x{i}, {word};" for i, word in enumerate(first)]
    lines += ["mov.u32 round, 0;", f"{label}:"]
    for shift in (0, 1):
        for i in range(4):
            lines += _quarter(i, 4 + (i + shift) % 4, 8 + (i + 2 * shift) % 4, 12 + (i + 3 * shift) % 4)
    lines += ["add.u32 round, round, 1;", "setp.lt.u32 is, round, 4;", f"@is bra {label};"]
    lines += [f"add.u32 x{i}, x{i}, {word};" for i, word in enumerate(first) if word != 0]
    return "\n    ".join(lines)


def _quarter(a, b, c, d):
    for into, other, turned, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        yield f"add.u32 x{into}, x{into}, x{other};"
        yield f"xor.b32 x{turned}, x{turned}, x{into};"
        yield f"shf.l.wrap.b32 x{turned}, x{turned}, x{turned}, {by};"


def each_word(*lines: str) -> str:
    """Returns PTX for each of the 16 words of a part: {i} is its number, {at} its offset in bytes, {data} its offset
    behind a header."""
    return "\n    ".join(line.format(i=i, at=4 * i, data=64 + 4 * i) for i in range(16) for line in lines)


REGISTERS = """.reg .u32 x<16>, d<16>, k<3>, number, index, part, record, within, offset, words, most, thread, group, threads, round, t;
    .reg .u64 at, from, to, place, high, t8;
    .reg .pred is, other, outside;"""
# This thread's part, its record, and its place in the record.
PART = """mov.u32 thread, %tid.x;
    mov.u32 group, %ctaid.x;
    mov.u32 threads, %ntid.x;
    mad.lo.u32 part, group, threads, thread;
    shr.u32 record, part, 3;
    and.b32 within, part, 7;
    shl.b32 offset, within, 4;"""
# Offsets of the page in bytes: release and key 0, active 384. A release of 0xFFFFFFFF: the judge has left. The code
# runs once before the gate reports itself as running, because the judge has flushed the caches. Only one thread reads
# the page and passes the words on: reads of the host's memory take a microsecond each, one after the other.
_PTX = f"""
.version 6.3
.target sm_70
.address_size 64

.visible .entry warpboard_open_gate(.param .u64 p_page, .param .u32 p_number, .param .u64 p_inputs, .param .u64 p_records, .param .u32 p_parts,
                          .param .u64 p_ready)
{{
    .shared .align 4 .b8 line[16];
    .reg .u64 page, inputs, records, ready, seen, shared;
    .reg .pred first;
    .reg .u32 h<4>, l<4>, last, pass, of_data, low;
    {REGISTERS}
    ld.param.u64 page, [p_page];
    ld.param.u32 number, [p_number];
    ld.param.u64 inputs, [p_inputs];
    ld.param.u64 records, [p_records];
    ld.param.u32 most, [p_parts];
    ld.param.u64 ready, [p_ready];
    mov.u64 shared, line;
    mov.u32 last, %nctaid.x;
    sub.u32 last, last, 1;
    {PART}
    setp.ge.u32 outside, part, most;
    mul.wide.u32 at, record, {RECORD_BYTES};
    add.u64 at, at, records;
    mul.wide.u32 from, within, 64;
    add.u64 from, from, at;
    mov.u32 pass, 0;
    @outside bra OPEN;
    ld.global.v4.u32 {{h0, h1, h2, h3}}, [at];
    {each_word("ld.global.u32 d{i}, [from+{data}];")}
    bra OPEN;
WAIT:
    bar.sync 0;
    setp.ne.u32 other, thread, 0;
    @other bra MEET;
    atom.global.inc.u32 t, [ready], last;
    setp.eq.u32 is, t, last;
    @is st.volatile.global.u32 [page+384], number;
    setp.eq.u32 first, group, 0;
    add.u64 ready, ready, 16;
    selp.u64 seen, page, ready, first;
AGAIN:
    ld.volatile.global.v4.u32 {{l0, l1, l2, l3}}, [seen];
    setp.eq.u32 is, l0, number;
    @is bra RELEASED;
    setp.ne.u32 is, l0, 0xFFFFFFFF;
    @is bra AGAIN;
RELEASED:
    @first st.volatile.global.v4.u32 [ready], {{l0, l1, l2, l3}};
    st.shared.u32 [shared], l1;
    st.shared.u32 [shared+4], l2;
    st.shared.u32 [shared+8], l3;
MEET:
    bar.sync 0;
OPEN:
    ld.volatile.shared.u32 k0, [shared];
    ld.volatile.shared.u32 k1, [shared+4];
    ld.volatile.shared.u32 k2, [shared+8];
    mul.lo.u32 index, record, {1 + PARTS};
    mov.u32 of_data, 0;
BLOCK:
    {block("index", "ROUND")}
    setp.eq.u32 is, of_data, 1;
    @is bra WRITE;
    xor.b32 t, h0, x0;
    setp.ne.or.u32 other, t, {RECORD_TAG}, outside;
    setp.eq.or.u32 other, pass, 0, other;
    xor.b32 words, h1, x1;
    selp.u32 words, 0, words, other;
    xor.b32 low, h2, x2;
    cvt.u64.u32 place, low;
    xor.b32 low, h3, x3;
    cvt.u64.u32 high, low;
    add.u32 index, index, within;
    add.u32 index, index, 1;
    mov.u32 of_data, 1;
    bra BLOCK;
WRITE:
    shl.b64 high, high, 32;
    or.b64 place, place, high;
    cvt.u64.u32 t8, offset;
    add.u64 place, place, t8;
    shl.b64 place, place, 2;
    add.u64 to, inputs, place;
    {each_word("add.u32 t, offset, {i};", "setp.lt.u32 is, t, words;", "xor.b32 x{i}, x{i}, d{i};", "@is st.global.u32 [to+{at}], x{i};")}
    add.u32 pass, pass, 1;
    setp.eq.u32 is, pass, 1;
    @is bra WAIT;
    ret;
}}
"""


class Gate:
    """Gate is the runner's gate, for the context that is current at construction. page is its address on the device;
    ready is the address of eight words of the device, 0 before the first call."""

    def __init__(self, page: ctypes.c_uint64, ready: int) -> None:
        self._page, self._ready, self._gate = page, ctypes.c_uint64(ready), function(load(_PTX), "warpboard_open_gate")

    def queue(self, number: int, inputs: int, records: int, sealed: int) -> None:
        """Queues the gate of a call, with the addresses of the regions of inputs and of records, and the number of
        records."""
        parts = sealed * PARTS
        self._gate(self._page, ctypes.c_uint32(number), ctypes.c_uint64(inputs), ctypes.c_uint64(records), ctypes.c_uint32(parts), self._ready,
                   blocks=max(1, -(-parts // GATE_THREADS)), threads=GATE_THREADS)


def load(ptx: str) -> ctypes.c_void_p:
    module = ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.encode()))
    return module


def function(module: ctypes.c_void_p, name: str) -> Callable[..., None]:
    """Returns a kernel to call with its arguments as ctypes types, blocks, and threads."""
    found = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
    return functools.partial(_launch, found)


def _launch(kernel, *arguments, blocks=1, threads=1):
    """Launches on the default stream."""
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(it) for it in arguments))
    call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None)
