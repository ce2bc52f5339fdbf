"""The device stays with the judge from the first byte of an input to the release: the last thing that the judge queues is
a kernel that spins until the release. Without it, a device that idles there goes to the runner's context too early now
and then: the hand-over was shorter by 75 µs in some calls, and a kernel that waited for the input had it early.

Where another context had a turn nevertheless, the kernel sees a gap.
"""

import ctypes
import functools
import mmap
from time import perf_counter_ns

from warpboard_cuda import address_of, call, seen_by_device

_FIRST, _BEGAN_AT, _GAP = 0, 1, 2  # in words of eight bytes, by the device's clock
_BEGAN, _RELEASED = 32, 64  # in words of four bytes
_MOST_NS = 200_000_000  # the kernel ends after that in any case, and says that all of it was a gap
_WAIT_NS = 30_000_000_000
_PTX = """
.version 6.0
.target sm_60
.address_size 64

.visible .entry begin(.param .u64 words)
{
    .reg .u64 at, now;
    ld.param.u64 at, [words];
    mov.u64 now, %globaltimer;
    st.volatile.global.u64 [at], now;
    ret;
}

.visible .entry hold(.param .u64 words, .param .u32 number, .param .u64 most)
{
    .reg .u64 at, first, last, now, gap, step, limit;
    .reg .u32 mine, seen;
    .reg .pred go;
    ld.param.u64 at, [words];
    ld.param.u32 mine, [number];
    ld.param.u64 limit, [most];
    mov.u64 first, %globaltimer;
    mov.u64 last, first;
    mov.u64 gap, 0;
    st.volatile.global.u64 [at+8], first;
    membar.sys;
    st.volatile.global.u32 [at+128], mine;
AGAIN:
    ld.volatile.global.u32 seen, [at+256];
    mov.u64 now, %globaltimer;
    sub.u64 step, now, last;
    max.u64 gap, gap, step;
    mov.u64 last, now;
    setp.eq.u32 go, seen, mine;
    @go bra END;
    sub.u64 step, now, first;
    setp.lt.u64 go, step, limit;
    @go bra AGAIN;
    mov.u64 gap, step;
END:
    st.volatile.global.u64 [at+16], gap;
    ret;
}
"""


class Hold:
    """For the context that is current when it is made."""

    def __init__(self):
        module = ctypes.c_void_p()
        call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(_PTX.encode()))
        self._begin, self._hold = (_function(module, name) for name in ("begin", "hold"))
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self._at = seen_by_device(address_of(self._memory), mmap.PAGESIZE)
        self._words, self._times = memoryview(self._memory).cast("I"), memoryview(self._memory).cast("Q")
        self._number = 0

    def begin(self):
        """Marks the moment before the first byte is written."""
        self._begin(self._at)

    def take(self):
        """Queues the kernel behind what is to be written."""
        self._number = (self._number + 1) & 0xFFFFFFFF or 1
        self._hold(self._at, ctypes.c_uint32(self._number), ctypes.c_uint64(_MOST_NS))

    def taken(self):
        """Waits until it runs, and so all before it is written. Returns whether it does."""
        words, number, end = self._words, self._number, perf_counter_ns() + _WAIT_NS
        while words[_BEGAN] != number:
            if perf_counter_ns() > end:
                return False
        return True

    def let_go(self):
        self._words[_RELEASED] = self._number

    def took(self):
        """The nanoseconds from begin to the release in which something else could run; only once the kernel has ended."""
        times = self._times
        return times[_BEGAN_AT] - times[_FIRST] + times[_GAP]


def _function(module, name):
    found = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
    return functools.partial(_launch, found)


def _launch(function, *arguments):
    """Launches one thread on the default stream."""
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(it) for it in arguments))
    call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)
