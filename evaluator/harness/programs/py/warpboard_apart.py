"""The submission in a process of its own: whatever it puts in place of a module's functions, and whatever frames
and objects it finds, inputs are made, answers checked and results written by a process in which it never ran.
What it can still reach is the clock around its own calls.

The judge is forked off before the submission is imported, and the process that was there first becomes the
submission's: how it ends is how the program ends. Inputs go there pickled; answers come back as numbers and text
that are never unpickled."""

import builtins
import contextlib
import ctypes
import json
import os
import pickle
import socket
import struct
import sys
from time import perf_counter_ns
from types import FunctionType

from warpboard_answer import BadAnswer, bound_names, pack, unpack
from warpboard_report import forget

_DATA, _CALL, _TIME = b"data", b"call", b"time"
_DURATION, _COUNT, _SIZE = struct.Struct("<d"), struct.Struct("<I"), struct.Struct("<Q")
_MOST_PARTS = 1 << 20


def run(host, judge):
    """Runs judge(calls) in a process of its own and serves its calls in this one. Returns the exit code."""
    here, there = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        here.close()
        _leave(judge, Apart(there))
    there.close()
    forget()
    _serve(here, host)
    here.close()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF


def _leave(judge, calls):
    code = 1
    try:
        code = judge(calls)
    except SystemExit as end:
        code = end.code
    except (EOFError, ConnectionError):
        pass  # the submission's process has ended and says itself why
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class Apart:
    """The kernel as the judge sees it: on the other side of a channel."""

    def __init__(self, channel):
        self._channel = channel

    def open(self):
        """Waits until the submission is imported."""
        _receive(self._channel)

    def give(self, data):
        """Makes data what the next calls get a copy of."""
        buffers = []
        pickled = pickle.dumps(data, protocol=5, buffer_callback=buffers.append)
        _send(self._channel, [_DATA, pickled, *(buffer.raw() for buffer in buffers)])

    def call(self):
        return self._ask(_CALL)[0]

    def time(self):
        """Returns the answer and the nanoseconds that it took, caches cold."""
        return self._ask(_TIME)

    def ranged_call(self):
        """One call; on the host no profiler waits for a range."""
        return self.call()

    def _ask(self, order):
        _send(self._channel, [order])
        (duration,) = _DURATION.unpack(_read(self._channel, _DURATION.size))
        buffers = _receive(self._channel)
        (description,) = _receive(self._channel)
        kind, *rest = json.loads(description)
        if kind == "bad":
            raise BadAnswer(str(rest[0]))
        return unpack([kind, *rest], buffers), duration


def _serve(channel, host):
    """Does what the judge orders until it is gone. All that has to do with the time and with the answer as it was
    when the clock stopped is bound here, before the submission is imported, and local to this one frame: no module
    has it where a submission could change it. pack is made anew each time, with names and builtins of its own."""
    clock, memset, send, trace, profile = perf_counter_ns, ctypes.memset, channel.sendall, sys.settrace, sys.setprofile
    space, function, size_of, bad = dict, FunctionType, len, BadAnswer
    duration_bytes, count_bytes, size_bytes = _DURATION.pack, _COUNT.pack, _SIZE.pack
    code, names, originals = pack.__code__, bound_names(), tuple(vars(builtins).items())
    address, size, fill = host.cold_address, host.cold_bytes, 0
    from submission import custom_kernel as kernel

    data = None
    with contextlib.suppress(ConnectionError):  # the judge may have ended; the exit code says why
        _send(channel, [])
    while True:
        try:
            order, *parts = _receive(channel)
        except (EOFError, ConnectionError):
            return
        if order == _DATA:
            data = pickle.loads(parts[0], buffers=parts[1:])
            continue
        own, buffers = host.clone(data), []
        host.poison()
        if order == _TIME:
            fill = (fill + 1) % 256
            memset(address, fill, size)
        begin = clock()
        output = kernel(own)
        trace(None)  # a tracer would run before the copy
        profile(None)
        duration = clock() - begin
        packer = function(code, space(names, __builtins__=space(originals)))
        try:
            description = packer(output, buffers, packer)
        except bad as complaint:
            description, buffers = ["bad", complaint.args[0]], []
        send(duration_bytes(duration) + count_bytes(size_of(buffers)))
        for buffer in buffers:
            send(size_bytes(buffer.nbytes))
            send(buffer)
        _send(channel, [json.dumps(description).encode()])
        host.remember(output)
        del own, output, buffers


def _send(channel, parts):
    channel.sendall(_COUNT.pack(len(parts)))
    for part in parts:
        view = memoryview(part)
        channel.sendall(_SIZE.pack(view.nbytes))
        channel.sendall(view)


def _receive(channel):
    (count,) = _COUNT.unpack(_read(channel, _COUNT.size))
    if count > _MOST_PARTS:
        raise ConnectionError("the submission wrote into the channel of its answers")
    return [_read(channel, *_SIZE.unpack(_read(channel, _SIZE.size))) for _ in range(count)]


def _read(channel, size):
    content = bytearray(size)
    rest = memoryview(content)
    while rest:
        got = channel.recv_into(rest)
        if got == 0:
            raise EOFError
        rest = rest[got:]
    return content
