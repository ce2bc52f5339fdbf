"""Processes that are made before their stage, each with a context of the device: making one takes a quarter of a second.

They are forks of the warm Python and run no line of a user's code before their stage. All are made before the first stage: CUDA reads
files and connects to sockets in places where a stage can write. While a stage runs, they have the same user. It can kill or stop them,
or change their limits, as it can those of the warm Python, and cannot look into either. When it has ended, all of them must be as they
were, or all are ended: nothing may go on then, and none may carry a word to the next stage.
"""

import contextlib
import ctypes
import os
import signal
import socket
import time

import warpboard_between
from warpboard_resident import kept, receive, send

FIRST_FREE = 64  # the lower descriptors are left to the stage: what a context opens has higher ones
_MAKING, _ANSWERING = 20, 1  # seconds for all of them


class Prepared:
    """Those that wait for a stage."""

    def __init__(self):
        self._waiting = {}  # the socket to each, by its process
        self._lost = False  # one has died

    def make(self, number, become):
        """Makes so many and waits for their contexts. become gets the other end of a socket, and does not return."""
        with contextlib.suppress(OSError):  # as many processes as there may be
            for _ in range(number):
                end, there = socket.socketpair()
                pid = os.fork()
                if pid == 0:
                    become(there.detach())
                there.close()
                self._waiting[pid] = end
        self.check(_MAKING)

    def check(self, seconds=_ANSWERING):
        """Ends all of them unless each says in time that it is as it was."""
        deadline = time.monotonic() + seconds
        asked = [self._asked(pid, end) for pid, end in self._waiting.items()]
        answers = [self._answers(end, deadline) for end in self._waiting.values()]
        if self._lost or not all(asked) or not all(answers):
            self.end()

    def _asked(self, pid, end):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGCONT)
            return end.send(b"?") == 1
        return False

    def _answers(self, end, deadline):
        with contextlib.suppress(OSError):
            end.settimeout(max(deadline - time.monotonic(), 0.001))
            return end.recv(1) == b"!"
        return False

    def end(self):
        """Ends all of them, and waits until nothing of them is left."""
        for pid, end in self._waiting.items():
            end.close()
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        self._waiting = {}

    def begin(self, request, descriptors):
        """Hands a stage to one of them, and returns its process; None if there is none."""
        if not self._waiting:
            return None
        pid, end = self._waiting.popitem()
        with end, contextlib.suppress(OSError):
            end.settimeout(None)
            send(end, request, descriptors)
            return pid
        return None

    def died(self, pid):
        """Forgets one. Its process is not to be taken for it: the number may be another's soon."""
        if end := self._waiting.pop(pid, None):
            end.close()
            self._lost = True

    def processes(self):
        return set(self._waiting)


def wait(fd, settings):
    """What one of them does: returns (request, descriptors) of its stage, or None if there is none for it. settings are those that it
    must still have when it is asked (warpboard_between)."""
    with socket.socket(fileno=kept(fd)) as end:
        os.closerange(3, 512)
        null = os.open(os.devnull, os.O_RDONLY)
        while os.dup(null) < FIRST_FREE - 1:
            pass
        if not make_context():
            return None
        while (first := end.recv(1, socket.MSG_PEEK)) == b"?":
            end.recv(1)
            if warpboard_between.inherited() != settings:
                return None
            end.send(b"!")
        return receive(end) if first else None


def make_context():
    """Makes the context that CUDA's runtime, and so torch, will use, and reports whether that worked. Without a driver there is none."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return True
    return cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0) == 0
