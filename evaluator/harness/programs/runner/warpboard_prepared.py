"""A process that is forked ahead of its stage and has made a CUDA context, which takes a quarter of a second. Until the stage
comes, it runs nothing but this file. It is made when everything of the stage before has ended, so no code of anyone ever
runs beside it in its sandbox, and when nothing of that stage is measured any more.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket

import warpboard_resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_STAGES = 64  # descriptors below this number are for the stage: the context's own are above
_SET_DUMPABLE = 4


class Prepared:
    """Prepared is the process from the warm Python's side. There is none at first."""

    def __init__(self) -> None:
        self._pid = 0
        self._end: socket.socket | None = None

    def make(self, run: Callable[[list[int]], NoReturn]) -> None:
        """Forks a process that makes a context, waits for a stage, and passes its descriptors to run, unless there
        is such a process."""
        if self._end is not None:
            return
        self._end, there = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                end = _separate(there.detach())
                _make_context()
                descriptors = warpboard_resident.receive(end)
                end.close()
                if descriptors is not None:
                    os.closerange(3, _STAGES)
                    run(descriptors)
            finally:
                os._exit(1)
        there.close()

    def begin(self, descriptors: list[int]) -> int | None:
        """Sends a stage to the process, and returns its ID. Returns None if there is no process, or no longer."""
        if self._end is None:
            return None
        if not warpboard_resident.send(self._end, descriptors):
            self.drop()
            return None
        self._end.close()
        self._end = None
        return self._pid

    def drop(self) -> None:
        """Ends the process, if there is one."""
        if self._end is None:
            return
        self._end.close()
        self._end = None
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _separate(fd: int) -> socket.socket:
    """Leaves the warm Python's session, and closes its descriptors but for fd. Those that the stage will need are taken."""
    os.setsid()
    end = socket.socket(fileno=warpboard_resident.kept(fd))
    os.closerange(3, end.fileno())
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(null, 0)
    for number in range(null + 1, _STAGES):
        os.dup2(null, number, inheritable=False)
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 1, 0, 0, 0)  # the driver reads this process's files in /proc
    return end


def _make_context() -> None:
    """Makes the context that torch and CUDA's runtime use. Where that fails, the stage does it itself, and has the error."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    if driver.cuInit(0) == 0:
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0)
