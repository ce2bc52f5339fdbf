"""What happens between two stages of one sandbox, so that nothing passes from one to the next.

A stage's files are removed, and settings that it may have changed elsewhere are checked: after a change, the warm process is
spent, and the next stage gets another one. What is left are counters of the kernel's (process ids, inode numbers, ports in
use a minute ago) and which files of the system are cached. Neither can be reset in a sandbox: by them a stage can tell that it is
not the first one, and pass on some bits.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import resource
import shutil
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_FS_IOC_GETFLAGS = 0x80086601
_SYSCALLS = {"x86_64": (315, 252)}  # sched_getattr, ioprio_get


def apart(work: Callable[[], bool]) -> bool:
    """Does work in a process of its own, and returns its result: names of files that this process has read would stay in its
    memory, of which later stages have copies."""
    pid = os.fork()
    if pid == 0:
        done = False
        try:
            done = work()
        finally:
            os._exit(0 if done else 1)
    return os.waitpid(pid, 0)[1] == 0


class Cache:
    """Cache has the caches of compiled kernels, below one directory. Each stage finds there the files from before the
    first stage, and nothing that another stage has compiled, because that could be anything."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._files: dict[str, tuple[bytes, int, int]] = {}  # (contents, mode, time of change) by path

    def settle(self) -> None:
        """Reads the files that exist before the first stage."""
        for folder, _, leaves in os.walk(self._top):
            for path in (os.path.join(folder, leaf) for leaf in leaves):
                info = os.stat(path)
                with open(path, "rb") as file:
                    self._files[path] = file.read(), info.st_mode & 0o777, info.st_mtime_ns

    def restore(self) -> None:
        """Writes the files again; the directory is empty."""
        os.makedirs(self._top, exist_ok=True)
        for path, (data, mode, ns) in self._files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, mode)
            os.utime(path, ns=(ns, ns))


class Places:
    """Places are the directories that a stage may write into. The directories stay, with their data that can be written
    without a file: permissions, times, attributes, flags."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = [path for path in paths if os.path.isdir(path)]
        self.clear()
        self._times = {path: os.stat(path) for path in self._paths}
        self._found = self._look()

    def clear(self) -> bool:
        """Empties the directories. Returns True if they are empty and unchanged."""
        try:
            for path in self._paths:
                for entry in os.scandir(path):
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path)
                    else:
                        os.unlink(entry.path)
            return True
        except (OSError, RecursionError):
            return False

    def unchanged(self) -> bool:
        """Resets their times, and reports whether everything else is unchanged."""
        try:
            for path, info in self._times.items():
                os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
            return self._look() == self._found
        except OSError:
            return False

    def _look(self):
        return [(_rights(path), _attributes(path), _flags(path)) for path in self._paths]


def _rights(path):
    info = os.stat(path)
    return info.st_mode, info.st_uid, info.st_gid


def _attributes(path):
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError:
        return {}


def _flags(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return fcntl.ioctl(fd, _FS_IOC_GETFLAGS, bytes(8))
    except OSError:
        return b""
    finally:
        os.close(fd)


def inherited(pid: int = 0) -> tuple[Any, ...]:
    """Returns the settings that any process of the same user may change for a process (by default this one), and that
    children inherit: limits (prlimit), priorities, and processors."""
    limits = [resource.prlimit(pid, kind) for kind in range(16)]
    return limits, sorted(os.sched_getaffinity(pid)), _scheduling(pid)


def _scheduling(pid):
    if platform.machine() not in _SYSCALLS:
        return os.sched_getscheduler(pid), os.sched_getparam(pid).sched_priority, os.getpriority(os.PRIO_PROCESS, pid)
    sched_getattr, ioprio_get = _SYSCALLS[platform.machine()]
    call, attributes = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(64)
    call(sched_getattr, pid, attributes, 64, 0)
    return attributes.raw, call(ioprio_get, 1, pid)
