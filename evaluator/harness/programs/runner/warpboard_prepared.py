"""Processes that are made before their stage, each with a context of the device: making one takes a quarter of a second, in which
nothing can be timed.

They are forks of the warm Python and run no line of a user's code before their stage. A stage under way has the same user. It can
kill or stop them, or change their limits, as it can those of the warm Python, and cannot look into either. One that has died or was
changed serves no stage.
"""

import contextlib
import ctypes
import os
import signal
import socket

import warpboard_between
from warpboard_resident import kept, receive, send

FIRST_FREE = 64  # the lower descriptors are left to the stage: what a context opens has higher ones
_ANSWER = 5  # seconds for one to say that it is as it was


class Prepared:
    """Those that wait for a stage."""

    def __init__(self):
        self._waiting = {}  # the socket to each, by its process

    def make(self, number, become):
        """Makes so many if there is none. become gets the other end of a socket, and does not return."""
        if self._waiting:
            return
        for _ in range(number):
            end, there = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                become(there.detach())
            there.close()
            end.settimeout(_ANSWER)
            self._waiting[pid] = end

    def begin(self, request, descriptors):
        """Hands a stage to one of them, and returns its process; None if there is none. What was running before is dead."""
        for pid in list(self._waiting):
            with self._waiting.pop(pid) as end, contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
                end.send(b"?")
                if end.recv(1) == b"!":
                    send(end, request, descriptors)
                    return pid
                os.kill(pid, signal.SIGKILL)
        return None

    def died(self, pid):
        """Forgets one. Its process is not to be taken for it: the number may be another's soon."""
        if end := self._waiting.pop(pid, None):
            end.close()

    def processes(self):
        return set(self._waiting)


def wait(fd, settings):
    """What one of them does: returns (request, descriptors) of its stage, or None if there is none for it. settings are those that it
    must still have then (warpboard_between)."""
    with socket.socket(fileno=kept(fd)) as end:
        os.closerange(3, 512)
        null = os.open(os.devnull, os.O_RDONLY)
        while os.dup(null) < FIRST_FREE - 1:
            pass
        if not make_context() or not end.recv(1) or warpboard_between.inherited() != settings:
            return None
        end.send(b"!")
        return receive(end)


def make_context():
    """Makes the context that CUDA's runtime, and so torch, will use, and reports whether that worked. Without a driver there is none."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return True
    return cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0) == 0
