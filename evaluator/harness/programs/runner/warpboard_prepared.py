"""A process that is forked before its stage arrives, and has created a CUDA context, which takes a quarter of a second.
It may also have imported the modules of its stage's script and called the script's prepare(). Until the stage arrives,
it runs only this file and that script. It is forked when all processes of the previous stage have ended, so it never
shares its sandbox with code of a user, and when all measurements of that stage have ended.
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

_STAGES = 64  # descriptors below this number are for the stage; those of the CUDA context are above
_SET_DUMPABLE = 4


class Prepared:
    """Prepared is the warm Python's side of the prepared process. At first there is no such process."""

    def __init__(self) -> None:
        self._pid = 0
        self._end: socket.socket | None = None

    def make(self, run: Callable[[list[int], Rehearsal], NoReturn], text: int, folder: str) -> None:
        """Forks a prepared process, unless there is one. It creates a CUDA context and does the rest of the Rehearsal
        in the file text, waits for a stage, and calls run with the stage's descriptors. folder is the directory of the
        stage's files."""
        if self._end is not None:
            return
        self._end, there = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                text = warpboard_resident.kept(text)
                end = _separate(there.detach(), text)
                rehearsal = Rehearsal(text, folder)
                rehearsal.make_context()
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
        """Sends a stage's descriptors to the process, and returns the process's ID. Returns None if there is no
        process, or it has ended."""
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
    """Rehearsal creates a CUDA context, and in run() imports the modules of a stage's script in advance and calls its
    prepare(). Its text is {"argv": [script, argument of prepare...], "files": {name: base64}, "env": {variable of the
    environment, only while the context is created: value} or null}. The files are in the stage's folder only while run()
    runs. Without arguments of prepare, run() does nothing."""

    def __init__(self, text: int, folder: str) -> None:
        with open(text, "rb") as file:
            request = json.load(file)
        self._script, *self._arguments = request["argv"]
        self._files, self._folder, self._env = request["files"], folder, request["env"] or {}
        self._modules: set[str] = set()  # names of the imported modules
        self._made: Any = None  # result of prepare(), which is kept alive

    def make_context(self) -> None:
        """Creates the primary CUDA context, which torch and the CUDA runtime use. Errors are ignored, because the stage
        then creates the context itself and reports them."""
        try:
            driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            return
        os.environ.update(self._env)
        if driver.cuInit(0) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), 0)
        for name in self._env:
            del os.environ[name]

    def run(self) -> None:
        """Imports the script and calls its prepare(). Errors are ignored, because the stage does the same and reports
        them."""
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
        """Removes the imported modules if the stage's files differ from the imported ones."""
        if any(files.get(name) != text for name, text in self._files.items()):
            for name in self._modules:
                del sys.modules[name]


def write_files(folder: str, files: dict[str, str]) -> None:
    """Creates a folder with files, whose contents are base64. It first removes an existing folder, which a killed
    Rehearsal may have left."""
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(text))


def _separate(fd: int, text: int) -> socket.socket:
    """Leaves the warm Python's process group, and closes all its descriptors except fd and text. It opens /dev/null for the
    numbers that the stage will use, so that the CUDA context gets others. Returns fd as a socket."""
    os.setpgid(0, 0)
    end = socket.socket(fileno=warpboard_resident.kept(fd))
    os.closerange(3, text)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(null, 0)
    for number in range(null + 1, _STAGES):
        os.dup2(null, number, inheritable=False)
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 1, 0, 0, 0)  # the CUDA driver reads files of this process in /proc
    return end
