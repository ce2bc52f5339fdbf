"""Cleans up between two stages of one sandbox, so that no data passes from one to the next.

A stage's files are removed, and settings that it could have changed elsewhere are checked: after a change, the warm
process is not used again, and the next stage gets another one. Two things cannot be reset in a sandbox: counters of the
operating system (process ids, inode numbers, ports in use a minute ago), and the set of system files that are cached.
From these a stage can detect that it is not the first one, and it can pass on some bits in them.
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
_SYSCALLS = {"x86_64": (315, 252)}  # numbers of sched_getattr and ioprio_get


def apart(work: Callable[[], bool]) -> bool:
    """Calls work in a forked process, and returns its result. File names that this process itself reads would stay in
    its memory, and later stages, which are forks of it, would have copies."""
    pid = os.fork()
    if pid == 0:
        done = False
        try:
            done = work()
        finally:
            os._exit(0 if done else 1)
    return os.waitpid(pid, 0)[1] == 0


class Cache:
    """Cache has the caches of compiled kernels, below one directory. Each stage finds the files that existed before the
    first stage, but no file that another stage has written, because that could be forged."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._files: dict[str, tuple[bytes, int, int]] = {}  # (contents, mode, time of change) by path

    def settle(self) -> None:
        """Reads all files of the caches into memory before the first stage. restore writes them back before each
        stage."""
        for folder, _, leaves in os.walk(self._top):
            for path in (os.path.join(folder, leaf) for leaf in leaves):
                info = os.stat(path)
                with open(path, "rb") as file:
                    self._files[path] = file.read(), info.st_mode & 0o777, info.st_mtime_ns

    def restore(self) -> None:
        """Writes the recorded files into the directory, which must be empty."""
        os.makedirs(self._top, exist_ok=True)
        for path, (data, mode, ns) in self._files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, mode)
            os.utime(path, ns=(ns, ns))


class Places:
    """Places are the directories into which a stage may write. Only their contents are removed, so their own
    permissions, times, attributes, and flags, in which a stage could store data, are checked or reset."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = [path for path in paths if os.path.isdir(path)]
        self.clear()
        self._times = {path: os.stat(path) for path in self._paths}
        self._found = self._look()

    def clear(self) -> bool:
        """Removes the contents of the directories. Returns True if all could be removed."""
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
        """Resets the times of the directories. Returns True if their permissions, attributes, and flags are
        unchanged."""
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
    return limits, sorted(os.sched_getaffinity(pid)), _scheduling(pid), _autogroup(pid)


def _autogroup(pid):
    """Returns the priority of the session that the process is in, or "" without autogroups or /proc."""
    try:
        with open(f"/proc/{pid or 'self'}/autogroup", encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def _scheduling(pid):
    if platform.machine() not in _SYSCALLS:
        return os.sched_getscheduler(pid), os.sched_getparam(pid).sched_priority, os.getpriority(os.PRIO_PROCESS, pid)
    sched_getattr, ioprio_get = _SYSCALLS[platform.machine()]
    call, attributes = ctypes.CDLL(None).syscall, ctypes.create_string_buffer(64)
    call(sched_getattr, pid, attributes, 64, 0)
    return attributes.raw, call(ioprio_get, 1, pid)
