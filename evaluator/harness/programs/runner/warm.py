"""A warm Python: imports the modules of tasks, then runs stages in children forked from itself.

    python3 warm.py MODULE...

It is started in a fresh sandbox before there is a job, imports the named modules (those that are there), serves the stages
of one job, and is thrown away.

Requests come on stdin, a stream socket, one JSON object per line: {"descriptors": how many come along, the first with the
stage's text, the others the stage's from 4 on, "report": whether it has a result pipe, "resident": whether the process that serves
it stays for others of the kind (warpboard_resident), "pools": whether it may fork processes of its own, "unprepared": whether it needs a new process, "prepare": whether
this is no stage, and the next one's process is to be forked ahead, with a text of what it rehearses (warpboard_prepared)}. The text is for the stage's own process:
{"argv": [script, argument...], "env": {...}, "files": {name: base64}, "extensions": base64 of an archive, or null, "report",
"pools"}. Replies go to descriptor 3 as frames of a type byte, a length (four bytes, big endian) and that many bytes:

    w  ready; nothing
    o  the stage's standard output       e  its standard error       r  its result pipe
    s  the stage has closed all three, and may take some time to end
    x  the stage has ended: {"exit_code", "signal", "cpu_ns", "max_rss", "spent": whether it has left something that
       cannot be removed, so that no other stage may follow here}

A stage's script runs as __main__ of its own process in a directory with nothing but the job's files. When it has ended,
everything that it started is killed and everything that it wrote is removed, compiled kernels included. This process makes no
CUDA call: a context does not survive a fork. It reads nothing of a stage's text, names or output into memory that it does not
clear: all stages have copies of its memory.
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
RESULT_FD = 3  # in a stage
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
CHUNK = 1 << 16
LINGER = 2  # seconds
MOST_BEGUN = 100  # nested initializations of NVML
MOST_DESCRIPTORS = 33  # of a request: its text, and a channel and a page for each rank


def prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class Runner:
    """Runner serves the stages of a job."""

    places: warpboard_between.Places  # where a stage may write; set by settle
    inherited: tuple[Any, Any]  # the settings before the first stage; set by settle

    def __init__(self) -> None:
        self.control = fcntl.fcntl(CONTROL_FD, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(CONTROL_FD)
        self.top = os.path.join(os.environ.get("TMPDIR", "/tmp"), "")
        self.cache = os.path.join(self.top, "cache")
        self.job = os.path.join(self.top, "job")
        # Set if the sandbox has its own PID namespace: killing everyone is then safe.
        self.alone = os.environ.pop("WARPBOARD_ALONE", "") == "1"
        self.exit_code = 0
        self.buffer = bytearray(CHUNK)
        self.caches = warpboard_between.Cache(self.cache)
        self.resident = warpboard_resident.Resident()
        self.prepared = warpboard_prepared.Prepared()

    def settle(self) -> None:
        """Records the state of everything before the first stage."""
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
        """Starts a stage in the prepared process or in a new one, and returns the process's ID. A judge and a script with pools
        fork, which a context does not survive."""
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
        """Forks the next stage's process."""
        if self.alone:
            self.prepared.make(Stage(self.job, self.cache).run, given[0], self.job)
        for fd in given:
            os.close(fd)

    def tidy(self, resident: bool) -> bool:
        """Removes a stage's leftovers, and reports whether all could be removed. A resident's have no names that must be kept from
        later stages, and a fork takes 10 ms."""
        cleared = self.places.clear() if resident else warpboard_between.apart(self.places.clear)
        return self.places.unchanged() and cleared and self.settings() == self.inherited

    def settings(self) -> tuple[Any, Any]:
        """Returns the settings of this process, and of the sandbox's first one, that a stage may change."""
        first = None
        with contextlib.suppress(PermissionError):
            first = warpboard_between.inherited(1)
        return warpboard_between.inherited(), first

    def watch(self, ended: int, reap: Callable[[], dict[str, Any]], linger: int, readers: list[int]) -> dict[str, Any]:
        """Forwards the stage's output until the stage has ended, by its descriptor, and all of its writers are closed,
        for which it waits linger seconds. Returns the ending. A resident has written everything when it reports its
        end."""
        # Closed here and not by the collector, which could close another file with this number in a later stage's
        # process.
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
                break  # without a sandbox a daemon may keep the pipes open, and a resident's processes may as well
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
        """Kills the processes that the stage left, also daemons if there are no others, and waits for their end."""
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
    """Stage is the code of the forked child. run does not return."""

    wires: list[int]  # set by take, like the next ones
    script: str

    def __init__(self, job: str, cache: str) -> None:
        self.job = job
        self.cache = cache

    def run(self, descriptors: list[int], rehearsal: warpboard_prepared.Rehearsal | None = None) -> NoReturn:
        """Runs the stage. A prepared process, which has a rehearsal, leads a session already, and has closed this process's
        descriptors."""
        code = 1
        try:
            if rehearsal is None:
                os.setsid()
            request = self.take(descriptors, everything=rehearsal is None)
            if rehearsal is not None:
                rehearsal.compare(request["files"])
            if request["extensions"]:  # in the stage's process, because the submission's code has made the archive
                warpboard_extensions.unpack(base64.b64decode(request["extensions"]), os.path.join(self.cache, "torch_extensions"))
            warpboard_inline.install()  # before a fork server: its children compile extensions, too
            if request["pools"] and sys.version_info < (3, 14):
                offer_spawn_pools()
            del request
            code = run_script(self.script)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            leave(code)

    def stay(self, end: int) -> NoReturn:
        """Serves stages as a resident until it leaves."""
        stages, code = None, 1
        try:
            os.setsid()
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
            leave(code)

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
        """Takes the descriptors of a stage, its folder and its environment, and returns its text. everything: closes all other
        descriptors."""
        prctl(PR_SET_DUMPABLE, 1)  # a program may inspect itself
        given = [os.open(os.devnull, os.O_RDONLY), *descriptors]
        # They may have low numbers themselves, so they get others first.
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
        self.wires, self.script = wires, os.path.join(self.job, script)
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
    """Runs a file as python3 would, and returns the exit code. The module is also __mp_main__: under that name the
    workers of a pool send back objects of the script's classes."""
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
    the submitter did not write them. If nothing else is left, the harness's frames stay."""
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


def leave(code: int) -> NoReturn:
    """Ends the process as the interpreter would: threads joined, exit functions run, streams flushed."""
    import atexit
    import threading

    try:
        threading._shutdown()  # type: ignore[attr-defined]  # private
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os.closerange(0, RESULT_FD + 1)  # ending a context takes longer
    except BaseException:
        code = code or 1
    finally:
        os._exit(code)


def offer_spawn_pools() -> None:
    """Makes multiprocessing's spawned workers children of a fork server that is forked here, with everything imported
    and no CUDA context. Otherwise each would be an interpreter that imports it all again. As with real spawned workers,
    the result pipe is not theirs: descriptor 3 refuses writes."""
    from multiprocessing import connection, context, forkserver, process

    address = connection.arbitrary_address("AF_UNIX")  # type: ignore[attr-defined]  # not in typeshed, like the next
    if len(address) > 100:  # Linux has room for 107 bytes; without a sandbox the folder may be deep
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
    """Ends NVML, which torch started while it was imported. Stages are forks without its descriptors: NVML, which NCCL
    needs, would not start there."""
    with contextlib.suppress(OSError):  # it is not loaded
        nvml = ctypes.CDLL("libnvidia-ml.so.1", os.RTLD_NOW | os.RTLD_NOLOAD)
        for _ in range(MOST_BEGUN):
            if nvml.nvmlShutdown() != 0:
                break


def prepare_triton(cache: str) -> None:
    """Does before the fork the work that Triton does in each process before its first kernel, without a CUDA call: it
    compiles the module for the driver, hashes itself for its cache's keys (0.3 s each), and imports Gluon (0.15 s). If
    a version of Triton lacks something, or fails here, each stage does it itself."""
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
    """Yields the requests on stdin, each with its descriptors. It reads without a buffer, so that a child has nothing
    of the next request."""
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
    import multiprocessing.connection  # noqa: F401  (what pools need, before the fork)
    import multiprocessing.forkserver  # noqa: F401

    if "triton" in sys.modules:
        prepare_triton(runner.cache)
    let_nvml_go()
    prctl(PR_SET_DUMPABLE, 0)  # no process of the same uid reads or writes this process by /proc
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # this process waits for the orphans of a stage
    runner.settle()
    gc.collect()
    gc.freeze()  # keeps the collector from copying every page of a child
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
