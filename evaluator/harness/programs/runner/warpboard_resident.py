"""A resident process: it serves one stage of a script after another, and keeps the state of the script, such as a CUDA
context. The judge of evaluations is one. It runs no code of a user.

The warm Python sends a byte for each stage, with the descriptors of its standard output, its standard error, its
report, its request's text, and those that the script uses from 4 on. The answer is a line of JSON when the stage has
ended: {"exit_code", "signal", "cpu_ns", "max_rss"}. The process exits after a stage that failed, and when it has used
half of its limit of processor time.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import socket
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any

_CHUNK = 1 << 16
_MOST_DESCRIPTORS = 64
_KEPT_FROM = 512  # descriptors that the process keeps have numbers from here on, above those of a stage


class Resident:
    """Resident is the warm Python's side of the resident process, which is started for the first stage."""

    _end: socket.socket  # connection to the current process

    def __init__(self) -> None:
        self._pid: int | None = None

    def begin(self, descriptors: list[int], become: Callable[[int], None]) -> None:
        """Starts a stage in the process. If there is no process, forks one, which calls become with its end of a socket
        for requests."""
        if self._pid is not None and not send(self._end, descriptors):
            self.ending()
        if self._pid is None:
            self._fork(become)
            send(self._end, descriptors)

    def fileno(self) -> int:
        return self._end.fileno()

    def _fork(self, become: Callable[[int], None]) -> None:
        self._end, there = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            become(there.detach())
        there.close()

    def ending(self) -> dict[str, Any]:
        """Waits for the answer, or for the exit of the process. Returns the ending of the stage: exit code, signal,
        time, memory."""
        line = b""
        while not line.endswith(b"\n"):
            try:
                part = self._end.recv(_CHUNK)
            except OSError:
                part = b""
            if not part:
                return self._died()
            line += part
        return json.loads(line)

    def _died(self) -> dict[str, Any]:
        assert self._pid is not None
        pid, self._pid = self._pid, None
        self._end.close()
        try:
            _, status, usage = os.wait4(pid, 0)
        except ChildProcessError:  # kill_rest of another stage has killed it and waited for it
            return {"exit_code": 1, "signal": 0, "cpu_ns": 0, "max_rss": 0}
        return ending_of(status, usage)


def ending_of(status: int, usage: Any) -> dict[str, Any]:
    """Returns the ending of a stage whose process has exited with this status."""
    return {
        "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "cpu_ns": int((usage.ru_utime + usage.ru_stime) * 1e9),
        "max_rss": usage.ru_maxrss * 1024,
    }


def send(end: socket.socket, descriptors: list[int]) -> bool:
    """Sends a stage's descriptors. Returns False if the process has exited, or accepts no more stages."""
    try:
        socket.send_fds(end, [b"s"], descriptors)
        return True
    except OSError:
        return False


def receive(end: socket.socket) -> list[int] | None:
    """Returns the descriptors of the next stage, or None if the socket is closed."""
    stage, descriptors, _, _ = socket.recv_fds(end, 1, _MOST_DESCRIPTORS)
    return descriptors if stage else None


def kept(fd: int) -> int:
    """Returns a duplicate of the descriptor, with a number that no stage uses."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _KEPT_FROM)


def stages(fd: int) -> Generator[list[int], int, None]:
    """Yields the descriptors of each stage. When a stage has ended, send its exit code to the generator to get the
    next."""
    end = socket.socket(fileno=fd)
    while (descriptors := receive(end)) is not None:
        before = time.process_time_ns()
        code = yield descriptors
        gc.collect()
        ending = {"exit_code": code, "signal": 0, "cpu_ns": time.process_time_ns() - before,
                  "max_rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        stays = code == 0 and not _worn()
        if not stays:
            end.shutdown(socket.SHUT_RD)  # sending the next stage fails, so it gets another process
        end.sendall(json.dumps(ending).encode() + b"\n")
        if not stays:
            return


def _worn():
    most, _ = resource.getrlimit(resource.RLIMIT_CPU)
    return most != resource.RLIM_INFINITY and time.process_time() > most / 2
