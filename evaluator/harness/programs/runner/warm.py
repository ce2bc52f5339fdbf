"""A warm Python: imports the modules of tasks, then runs stages in children forked from itself.

    python3 warm.py MODULE...

It is started in a fresh sandbox before there is a job, imports the named modules that are installed, serves the stages
of one job, and then ends.

Requests come on stdin, a stream socket, one JSON object per line. Except the first, all fields are true or false:

    descriptors  number of descriptors sent with the request: the first is a file with the request's text, the others
                 become the stage's descriptors from 4 on
    report       the stage has a result pipe
    resident     the process that serves the stage stays for further stages of its script (warpboard_resident)
    pools        the stage may start worker processes
    unprepared   the stage needs a new process
    prepare      this is no stage: the next stage's process is forked in advance (warpboard_prepared), and the text
                 has the modules that it imports

Only the stage's own process reads the text: {"argv": [script, argument...], "env": {...}, "files": {name: base64},
"extensions": base64 of an archive, or null, "report", "pools"}. Replies go to descriptor 3 as frames of a type byte, a
length (four bytes, big endian) and that many bytes:

    w  ready; nothing
    o  the stage's standard output       e  its standard error       r  its result pipe
    s  the stage has closed all three outputs, and may take some time to end
    x  the stage has ended: {"exit_code", "signal", "cpu_ns", "max_rss", "spent": true if it has left something that
       cannot be removed, so that no other stage may follow in this sandbox}

A stage's script runs as __main__ of its own process, in a directory with only the job's files. When it has ended, all
processes that it started are killed, and all files that it wrote are removed, also compiled kernels. This process makes
no CUDA call, because a CUDA context does not survive a fork. If it reads a stage's text, names, or output into memory,
it clears that memory, because later stages are forks with copies of it.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import struct
import sys

import warpboard_between
import warpboard_extensions
import warpboard_inline
import warpboard_prepared
import warpboard_resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any, NoReturn

CONTROL_FD = 3
RESULT_FD = 3  # the result pipe in a stage's process
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
CHUNK = 1 << 16
LINGER = 2  # seconds for which output is awaited after a stage's end
MOST_BEGUN = 100  # most nested initializations of NVML that are undone
MOST_DESCRIPTORS = 33  # most descriptors of a request: its text, and a channel and a page for each rank


def prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class Runner:
    """Runner serves the stages of a job."""

    places: warpboard_between.Places  # directories in which a stage may write; set by settle
    inherited: tuple[Any, Any]  # the settings before the first stage; set by settle

    def __init__(self) -> None:
        self.control = fcntl.fcntl(CONTROL_FD, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(CONTROL_FD)
        self.top = os.path.join(os.environ.get("TMPDIR", "/tmp"), "")
        self.cache = os.path.join(self.top, "cache")
        self.job = os.path.join(self.top, "job")
        # True if the sandbox has its own PID namespace: killing all other processes is then safe.
        self.alone = os.environ.pop("WARPBOARD_ALONE", "") == "1"
        self.exit_code = 0
        self.buffer = bytearray(CHUNK)
        self.caches = warpboard_between.Cache(self.cache)
        self.resident = warpboard_resident.Resident()
        self.prepared = warpboard_prepared.Prepared()

    def settle(self) -> None:
        """Records the files and settings before the first stage, to which later stages are reset."""
        self.caches.settle()
        self.places = warpboard_between.Places([self.top, "/out", "/dev/shm"] if self.alone else [self.top])
        self.inherited = self.settings()

    def send(self, kind: bytes, data: bytes | memoryview = b"") -> None:
        for part in (kind + struct.pack(">I", len(data)), data):
            view = memoryview(part)
            while view:
                view = view[os.write(self.control, view):]

    def serve(self, request: dict[str, Any], given: list[int]) -> None:
        """Runs one stage to its end."""
        self.caches.restore()
        pipes = [os.pipe() for _ in range(3)]
        sys.stdout.flush()
        sys.stderr.flush()
        descriptors = [*(write for _, write in pipes), *given]
        if request["resident"]:
            self.resident.begin(descriptors, Stage(self.job, self.cache).stay)
            ended, reap, linger = os.dup(self.resident.fileno()), self.resident.ending, 0
        else:
            pid = self.fork(request, descriptors)
            ended, reap, linger = os.pidfd_open(pid), lambda: self.reap(pid), LINGER
        for fd in descriptors:
            os.close(fd)
        ending = self.watch(ended, reap, linger, [read for read, _ in pipes])
        self.exit_code = 128 + ending["signal"] if ending["signal"] else ending["exit_code"]
        ending["spent"] = not self.tidy(request["resident"])
        self.send(b"x", json.dumps(ending).encode())

    def fork(self, request: dict[str, Any], descriptors: list[int]) -> int:
        """Starts a stage in the prepared process or in a new one, and returns the process's ID. A judge, and a script
        that may start worker processes, need a new one: they fork, which the prepared CUDA context does not survive."""
        if request["report"] or request["pools"] or request["unprepared"]:
            self.prepared.drop()
        pid = self.prepared.begin(descriptors)
        if pid is None:
            pid = os.fork()
            if pid == 0:
                os.close(self.control)
                Stage(self.job, self.cache).run(descriptors)
        return pid

    def prepare(self, given: list[int]) -> None:
        """Forks a prepared process for the next stage (warpboard_prepared)."""
        if self.alone:
            self.prepared.make(Stage(self.job, self.cache).run, given[0], self.job)
        for fd in given:
            os.close(fd)

    def tidy(self, resident: bool) -> bool:
        """Removes the files of a stage, and reports whether all is as before it. File names must not stay in this
        process's memory, so it does this in a fork. Files of a resident have no secret names, so it then saves the
        fork, which takes 10 ms."""
        cleared = self.places.clear() if resident else warpboard_between.apart(self.places.clear)
        return self.places.unchanged() and cleared and self.settings() == self.inherited

    def settings(self) -> tuple[Any, Any]:
        """Returns the settings of this process, and of the sandbox's first process, that a stage could change."""
        first = None
        with contextlib.suppress(PermissionError):
            first = warpboard_between.inherited(1)
        return warpboard_between.inherited(), first

    def watch(self, ended: int, reap: Callable[[], dict[str, Any]], linger: int, readers: list[int]) -> dict[str, Any]:
        """Forwards the stage's output until the descriptor ended shows the stage's end, and all writers of the output
        have closed it, at most linger seconds longer. Returns the result of reap. A resident has written all output
        when it reports its end."""
        # The selector is closed here, not by the garbage collector, which could run in a later stage's process and
        # close another file with the same number.
        with selectors.DefaultSelector() as selector:
            ending = self.forward(selector, ended, reap, linger, readers)
        for reader in readers:
            os.close(reader)
        return ending

    def forward(self, selector, ended, reap, linger, readers):
        for kind, reader in zip((b"o", b"e", b"r"), readers):
            selector.register(reader, selectors.EVENT_READ, kind)
        selector.register(ended, selectors.EVENT_READ, None)
        ending, silent = None, False
        while selector.get_map():
            if ending is None and not silent and len(selector.get_map()) == 1:
                self.send(b"s")
                silent = True
            ready = selector.select(None if ending is None else linger)
            if not ready:
                break  # a daemon, without a sandbox, or a resident's children may keep the pipes open
            for key, _ in ready:
                if key.data is None:
                    ending = reap()
                    selector.unregister(ended)
                    os.close(ended)
                    continue
                size = os.readv(key.fd, [self.buffer])
                if size:
                    self.send(key.data, memoryview(self.buffer)[:size])
                    self.buffer[:size] = bytes(size)
                else:
                    selector.unregister(key.fd)
        return ending

    def reap(self, pid):
        _, status, usage = os.wait4(pid, 0)
        self.kill_rest(pid)
        return warpboard_resident.ending_of(status, usage)

    def kill_rest(self, pid):
        """Kills the processes that the stage left behind, also daemons if it has its own PID namespace, and waits for
        their end."""
        try:
            if self.alone:
                os.kill(-1, signal.SIGKILL)
            else:
                os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            while os.waitpid(-1, 0 if self.alone else os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            pass


class Stage:
    """Stage has the code of the forked process that runs a stage. run does not return."""

    wires: list[int]  # set by take, as script is
    script: str
    reports = True  # False for the runner beside a judge

    def __init__(self, job: str, cache: str) -> None:
        self.job = job
        self.cache = cache

    def run(self, descriptors: list[int], rehearsal: warpboard_prepared.Rehearsal | None = None) -> NoReturn:
        """Runs the stage. A prepared process, for which rehearsal is set, already leads a process group, and has closed the
        descriptors of the warm Python."""
        code = 1
        try:
            if rehearsal is None:
                os.setpgid(0, 0)
            request = self.take(descriptors, everything=rehearsal is None)
            if rehearsal is not None:
                rehearsal.compare(request["files"])
            # The archive comes from code of the submission, so only the stage's own process unpacks it.
            if request["extensions"]:
                warpboard_extensions.unpack(base64.b64decode(request["extensions"]), os.path.join(self.cache, "torch_extensions"))
            warpboard_inline.install()  # before the fork server starts, because its children compile extensions, too
            if request["pools"] and sys.version_info < (3, 14):
                offer_spawn_pools()
            del request
            code = run_script(self.script)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            leave(code, self.reports)

    def stay(self, end: int) -> NoReturn:
        """Serves stages as a resident process, until it exits."""
        stages, code = None, 1
        try:
            os.setpgid(0, 0)
            stages = warpboard_resident.stages(warpboard_resident.kept(end))
            descriptors, first = next(stages), True
            while True:
                self.take(descriptors, everything=first)
                code, first = run_script(self.script), False
                self.let_go()
                descriptors = stages.send(code)
        except StopIteration:
            pass
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            leave(code, True)

    def let_go(self) -> None:
        """Closes the descriptors of the ended stage."""
        sys.stdout.flush()
        sys.stderr.flush()
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(RESULT_FD + 1):
            os.dup2(null, number, inheritable=number < RESULT_FD)
        os.close(null)
        for number in range(RESULT_FD + 1, RESULT_FD + 1 + len(self.wires)):
            with contextlib.suppress(OSError):  # the script may have closed it
                os.close(number)

    def take(self, descriptors: list[int], everything: bool) -> dict[str, Any]:
        """Sets up this process for a stage: its descriptors, folder, and environment. Returns the request's text. If
        everything is true, closes all other descriptors."""
        prctl(PR_SET_DUMPABLE, 1)  # the stage may inspect itself, for example by /proc
        given = [os.open(os.devnull, os.O_RDONLY), *descriptors]
        # These may have the low numbers that are assigned below, so they get higher numbers first.
        null, out, err, results, text, *wires = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in given)
        os.dup2(null, 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        with open(text, "rb", closefd=False) as file:
            request: dict[str, Any] = json.load(file)
        reports = request["report"]
        os.dup2(results if reports else null, RESULT_FD, inheritable=reports)
        for number, wire in enumerate(wires, RESULT_FD + 1):
            os.dup2(wire, number, inheritable=False)
        if everything:
            os.closerange(RESULT_FD + 1 + len(wires), 512)
        else:
            for fd in {null, out, err, results, text, *wires, *given} - set(range(RESULT_FD + 1 + len(wires))):
                os.close(fd)
        warpboard_prepared.write_files(self.job, request["files"])
        os.environ.update(request["env"])
        if reports:
            os.environ["POPCORN_FD"] = str(RESULT_FD)
        else:
            os.environ.pop("POPCORN_FD", None)
        os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(self.cache, "triton"))
        os.environ.setdefault("TORCH_EXTENSIONS_DIR", os.path.join(self.cache, "torch_extensions"))
        script, *arguments = request["argv"]
        self.reports, self.wires, self.script = reports, wires, os.path.join(self.job, script)
        os.chdir(self.job)
        sys.argv = [self.script, *arguments]
        sys.path[0] = self.job
        for name in ("warpboard_extensions", "warpboard_between", "warpboard_inline", "warpboard_prepared", "warpboard_resident"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[attr-defined]  # not in TextIO
        return request


def run_script(path: str) -> int:
    """Runs a file as python3 would, and returns the exit code. The module is also __mp_main__, because worker processes
    of multiprocessing send back objects of the script's classes under this name."""
    import builtins
    import types

    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = main
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
        exec(code, main.__dict__)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException as error:
        sys.excepthook(type(error), from_own_frames(error), error.__traceback__)
        return 1
    return 0


def from_own_frames(error: BaseException) -> BaseException:
    """Removes the frames of this program, and of Warpboard's harness, from the tracebacks of an error and its causes:
    the submitter did not write this code. If no other frame is left, the harness's frames stay."""
    cause: BaseException | None
    seen, cause = set(), error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        begin = skip(cause.__traceback__, lambda path: path == __file__)
        begin = skip(begin, lambda path: os.path.basename(path).startswith("warpboard_")) or begin
        cause.__traceback__ = begin
        cause = cause.__cause__ or cause.__context__
    return error


def skip(trace: TracebackType | None, unwanted: Callable[[str], bool]) -> TracebackType | None:
    """Returns the part of a traceback from the first wanted frame on, or None."""
    while trace is not None and unwanted(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def leave(code: int, reports: bool) -> NoReturn:
    """Ends the process, and flushes its streams. A process with a report ends as the interpreter would: it first joins
    threads and runs exit functions. For a runner beside a judge, this would only delay the next stage."""
    import atexit
    import threading

    try:
        if reports:
            threading._shutdown()  # type: ignore[attr-defined]  # private
            atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os.closerange(0, RESULT_FD + 1)  # shows the end before the CUDA context is destroyed, which takes longer
    except BaseException:
        code = code or 1
    finally:
        os._exit(code)


def offer_spawn_pools() -> None:
    """Makes multiprocessing start spawned workers as children of a fork server, which is forked here, with all modules
    imported and no CUDA context. Otherwise each worker would be a new interpreter that imports them again. As with real
    spawned workers, they have no result pipe: writing to descriptor 3 fails."""
    from multiprocessing import connection, context, forkserver, process

    address = connection.arbitrary_address("AF_UNIX")  # type: ignore[attr-defined]  # not in typeshed, like the next
    if len(address) > 100:  # Linux allows 107 bytes; without a sandbox the path may be longer
        return
    process.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    os.chmod(address, 0o600)
    listener.listen()
    alive_read, alive_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(alive_write)
            os.dup2(0, RESULT_FD)  # /dev/null, open for reading only
            forkserver.main(listener.fileno(), alive_read, [])
        finally:
            os._exit(0)
    os.close(alive_read)
    listener.close()
    server: Any = forkserver._forkserver
    server._forkserver_address = address
    server._forkserver_alive_fd = alive_write
    server._forkserver_pid = pid
    contexts = vars(context)["_concrete_contexts"]
    contexts["spawn"] = contexts["forkserver"]


def let_nvml_go() -> None:
    """Shuts down NVML, which torch initialized during its import. Stages are forks that do not have NVML's descriptors;
    NVML, which NCCL needs, could otherwise not be initialized there."""
    with contextlib.suppress(OSError):  # raised if the library is not loaded
        nvml = ctypes.CDLL("libnvidia-ml.so.1", os.RTLD_NOW | os.RTLD_NOLOAD)
        for _ in range(MOST_BEGUN):
            if nvml.nvmlShutdown() != 0:
                break


def prepare_triton(cache: str) -> None:
    """Does work in advance that Triton otherwise does in each process before its first kernel, without a CUDA call:
    compiling its module for the driver and hashing its own files for cache keys (0.3 s each), and importing Gluon (0.15
    s). If a version of Triton lacks such a step, or the step fails here, each stage does it itself."""
    os.environ["TRITON_CACHE_DIR"] = os.path.join(cache, "triton")
    with contextlib.suppress(Exception):
        from triton.backends.nvidia.driver import CudaUtils

        CudaUtils()
    with contextlib.suppress(Exception):
        from triton.runtime.cache import triton_key

        triton_key()
    with contextlib.suppress(Exception):
        import triton.experimental.gluon  # noqa: F401


def requests() -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Yields the requests on stdin, each with its descriptors. It reads from the socket directly, so that a forked
    child has no buffered part of a later request."""
    end = socket.socket(fileno=os.dup(0))
    descriptors: list[int]
    pending, descriptors = b"", []
    while True:
        line, newline, rest = pending.partition(b"\n")
        if newline:
            request, pending = json.loads(line), rest
            given, descriptors = descriptors[: request["descriptors"]], descriptors[request["descriptors"] :]
            yield request, given
            continue
        data, given, _, _ = socket.recv_fds(end, CHUNK, MOST_DESCRIPTORS)
        descriptors += given
        if not data:
            return
        pending += data


def main() -> NoReturn:
    runner = Runner()
    for name in sys.argv[1:]:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    import multiprocessing.connection  # noqa: F401  (needed by multiprocessing's pools; imported before the fork)
    import multiprocessing.forkserver  # noqa: F401

    if "triton" in sys.modules:
        prepare_triton(runner.cache)
    let_nvml_go()
    prctl(PR_SET_DUMPABLE, 0)  # other processes of the same uid cannot read or write this process by /proc
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphaned processes of a stage become children of this process
    runner.settle()
    gc.collect()
    gc.freeze()  # otherwise the garbage collector of each fork would touch, and so copy, all pages
    runner.send(b"w")
    for request, descriptors in requests():
        if request["prepare"]:
            runner.prepare(descriptors)
        else:
            runner.serve(request, descriptors)
    # As after each stage, the sandbox can report the limit that was exceeded. The interpreter's own end takes a quarter
    # of a second with torch, and would keep a device busy.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(runner.exit_code)


if __name__ == "__main__":
    main()
