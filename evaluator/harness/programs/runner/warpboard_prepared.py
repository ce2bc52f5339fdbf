"""A process that is forked ahead of its stage and has made a CUDA context, which takes a quarter of a second. It may also have
imported the modules of its stage's script and called its prepare(). Until the stage comes, it runs nothing but this file and that
program. It is made when everything of the stage before has ended, so no code of anyone ever runs beside it in its sandbox, and
when nothing of that stage is measured any more.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import importlib
import json
import os
import shutil
import signal
import socket
import sys

import warpboard_resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_STAGES = 64  # descriptors below this number are for the stage: the context's own are above
_SET_DUMPABLE = 4


class Prepared:
    """Prepared is the process from the warm Python's side. There is none at first."""

    def __init__(self) -> None:
        self._pid = 0
        self._end: socket.socket | None = None

    def make(self, run: Callable[[list[int], Rehearsal], NoReturn], text: int, folder: str) -> None:
        """Forks a process that makes a context, rehearses what a text says, waits for a stage, which will have its files in a
        folder, and passes its descriptors to run, unless there is such a process."""
        if self._end is not None:
            return
        self._end, there = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                text = warpboard_resident.kept(text)
                end = _separate(there.detach(), text)
                _make_context()
                rehearsal = Rehearsal(text, folder)
                rehearsal.run()
                descriptors = warpboard_resident.receive(end)
                end.close()
                if descriptors is not None:
                    os.closerange(3, _STAGES)
                    run(descriptors, rehearsal)
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


class Rehearsal:
    """Rehearsal has imported the modules of a script and called its prepare(): {"argv": [script, argument of prepare...], "files":
    {name: base64}}. The files are in the stage's folder only during that. Without an argument it does nothing."""

    def __init__(self, text: int, folder: str) -> None:
        with open(text, "rb") as file:
            request = json.load(file)
        self._script, *self._arguments = request["argv"]
        self._files, self._folder = request["files"], folder
        self._modules: set[str] = set()  # that have been imported
        self._made: Any = None  # by prepare()

    def run(self) -> None:
        """Rehearses. Where that fails, the stage does it all itself, and has the error."""
        if not self._arguments:
            return
        found = set(sys.modules)
        sys.path.insert(0, self._folder)
        with contextlib.suppress(BaseException):
            write_files(self._folder, self._files)
            self._made = importlib.import_module(self._script.removesuffix(".py")).prepare(*self._arguments)
        sys.path.remove(self._folder)
        self._modules = {name for name in set(sys.modules) - found if f"{name}.py" in self._files}
        shutil.rmtree(self._folder, ignore_errors=True)

    def compare(self, files: dict[str, str]) -> None:
        """Forgets the modules if a stage has other files."""
        if any(files.get(name) != text for name, text in self._files.items()):
            for name in self._modules:
                del sys.modules[name]


def write_files(folder: str, files: dict[str, str]) -> None:
    """Makes a folder with files, from their base64. One that a rehearsal has left, because it was ended, is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(text))


def _separate(fd: int, text: int) -> socket.socket:
    """Leaves the warm Python's session, and closes its descriptors but for two. Those that the stage will need are taken."""
    os.setsid()
    end = socket.socket(fileno=warpboard_resident.kept(fd))
    os.closerange(3, text)
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
