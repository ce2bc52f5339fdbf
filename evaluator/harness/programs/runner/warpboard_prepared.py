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
import importlib.util
import json
import os
import signal
import socket
import sys

import warpboard_resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
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
    """Rehearsal has imported the modules of a script, from their texts, and called its prepare(): {"argv": [script, argument of
    prepare...], "files": {name: base64}}. Without an argument it does nothing."""

    def __init__(self, text: int, folder: str) -> None:
        with open(text, "rb") as file:
            request = json.load(file)
        self._script, *self._arguments = request["argv"]
        self._files, self._folder = request["files"], folder
        self._imported: list[str] = []
        self._made: Any = None  # by prepare()

    def run(self) -> None:
        """Rehearses. Where that fails, the stage does it all itself, and has the error."""
        if not self._arguments:
            return
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]  # it needs no more than find_spec
        with contextlib.suppress(BaseException):
            self._made = importlib.import_module(self._script.removesuffix(".py")).prepare(*self._arguments)
        sys.meta_path.remove(self)  # type: ignore[arg-type]

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if f"{name}.py" not in self._files:
            return None
        return importlib.util.spec_from_file_location(name, os.path.join(self._folder, f"{name}.py"), loader=self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leaves that to Python."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__file__ is not None
        self._imported.append(module.__name__)
        exec(compile(base64.b64decode(self._files[f"{module.__name__}.py"]), module.__file__, "exec"), module.__dict__)

    def compare(self, files: dict[str, str]) -> None:
        """Forgets the modules if a stage has other texts of them."""
        if any(files.get(f"{name}.py") != self._files[f"{name}.py"] for name in self._imported):
            for name in self._imported:
                sys.modules.pop(name, None)


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
