"""Runs nvcc or g++ on a source of an extension, with the same result in less time.

    python3 warpboard_compiler.py COMPILER ARGUMENT...

The arguments are those that torch gives the compiler. A source is compiled twice at once: with few of torch's headers
(warpboard_headers.py), and, at a lower priority, with all of them. If the first compile succeeds, its object is used,
and the second compile is ended; otherwise the second compile decides, and its errors are shown.

nvcc lists its commands (--dryrun). Commands that are independent, such as those for device code and those for host
code, run at the same time.

A command of an unknown form is passed to the compiler unchanged. So is a command that fails without an error at a
source line, because this program may be the reason.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time

import warpboard_headers
import warpboard_steps
from warpboard_steps import Unknown

LOG = "warpboard.log"  # file name in the directory of the build
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a", ".so")
DEPENDENCIES = ("-MF", "--dependency-output")
DEPENDS = ("-MD", "-MMD", "--generate-dependencies-with-compile")
# Options of nvcc that change its commands' files, or which commands depend on each other.
UNUSUAL = re.compile(r"-rdc|-dc$|--?device-c|-dlink|--relocatable|--?keep|-save-temps|-t$|-t=|--threads|--?split-compile|-ptx$|-cubin$|-fatbin$")
LOCATED = re.compile(rb"\(\d+\): (?:catastrophic )?error|:\d+:(?:\d+:)? (?:fatal )?error|ptxas (?:error|fatal)")


class Command:
    """Command is the compile of one source."""

    def __init__(self, compiler: str, args: list[str]) -> None:
        self.compiler = compiler
        self.nvcc = os.path.basename(compiler) == "nvcc"
        if sum(arg.endswith(SOURCES) for arg in args) != 2 or any(UNUSUAL.match(arg) for arg in args):
            raise Unknown("one source and one object")
        self.source, self.output, self.depfile = self._after(args, "-c"), self._after(args, "-o"), None
        self.args = []
        words = iter(args)
        for word in words:
            if word in DEPENDENCIES:
                self.depfile = next(words)
            elif word not in DEPENDS:
                self.args.append(word)

    def _after(self, args: list[str], flag: str) -> str:
        if args.count(flag) != 1 or args.index(flag) + 1 == len(args):
            raise Unknown(flag)
        return args[args.index(flag) + 1]

    def text(self) -> str:
        with open(self.source, encoding="utf-8", errors="replace") as file:
            return file.read()


class Compile:
    """Compile compiles the source of a command in a separate folder, with few or with all of torch's headers."""

    def __init__(self, command: Command, few: bool) -> None:
        self.command = command
        self.few = few
        self.folder = tempfile.mkdtemp(prefix="compile-")
        self.steps = warpboard_steps.Steps([], {})

    def ready(self) -> bool:
        """Determines the commands to run. Returns False if this is the compile with few headers, but the source needs
        all."""
        headers = os.path.join(self.folder, "include")
        if self.few and not warpboard_headers.write(headers, self.command.text(), self.command.args):
            return False
        object_file, depfile = self._path("object.o"), self._path("object.d")
        args = [object_file if arg == self.command.output else arg for arg in self.command.args]
        if self.few:
            args = warpboard_headers.flags(headers) + args
        plan = warpboard_steps.of_nvcc if self.command.nvcc else warpboard_steps.of_host
        self.steps = plan(self.command, args, self.folder, depfile if self.command.depfile else None)
        self.steps.polite = not self.few
        return True

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def deliver(self) -> None:
        """Moves the object, and its dependency file, to the paths in the command."""
        shutil.move(self._path("object.o"), self.command.output)
        if self.command.depfile:
            with open(self._path("object.d")) as file:
                text = file.read()
            with open(self.command.depfile, "w") as file:
                file.write(depends(text, self.command.output, self.folder))

    def remove(self) -> None:
        self.steps.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def depends(text: str, output: str, folder: str) -> str:
    """Returns the text of ninja's dependency file: the object depends on the files that the compiler lists, except
    those in folder, which is removed."""
    words = re.split(r"(?<!\\)\s+", text.partition(":")[2].replace("\\\n", " "))
    names = [name for name in words if name and not name.startswith(folder)]
    return f"{output}: {' '.join(names)}\n"


def race(few: Compile, full: Compile) -> Compile:
    """Runs both compiles at the same time. Returns few if it succeeds, otherwise full."""
    thread = threading.Thread(target=full.steps.run)
    thread.start()
    made = few.steps.run()
    if made:
        full.steps.stop()
    thread.join()
    return few if made else full


def compile(command: Command) -> int:
    """Compiles one source, and returns the exit code."""
    began = time.monotonic()
    few, full = Compile(command, True), Compile(command, False)
    try:
        racing = few.ready()
        full.ready()
        won = race(few, full) if racing else full
        if not racing:
            full.steps.run()
        if won.steps.code and not LOCATED.search(won.steps.text):
            raise Unknown("no error of the source's")
        sys.stdout.buffer.write(won.steps.text)
        sys.stdout.flush()
        if won.steps.code == 0:
            won.deliver()
        tell(command, "with the headers that it names" if won is few else "with all headers", began, won.steps)
        return won.steps.code
    finally:
        for one in few, full:
            one.remove()


def tell(command: Command, how: str, began: float, steps: warpboard_steps.Steps) -> None:
    """Writes a line about the compile to the log of the build."""
    parts = ", ".join(f"{step.name} {step.took:.1f}" for step in steps.all if step.took > 0.2)
    what = "failed" if steps.code else "compiled"
    with open(LOG, "a") as log:
        log.write(f"{os.path.basename(command.source)}: {what} by {os.path.basename(command.compiler)} {how}"
                  f" in {time.monotonic() - began:.1f} s ({parts})\n")


def main(compiler: str, *args: str) -> None:
    # On SIGTERM an exception ends the commands, which are in other process groups and so do not get the signal.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        sys.exit(compile(Command(compiler, list(args))))
    except (Unknown, OSError, ValueError) as reason:
        sys.stdout.flush()
        # Links are not logged: they are always passed on.
        if "-c" in args[:-1]:
            with open(LOG, "a") as log:
                log.write(f"{os.path.basename(args[args.index('-c') + 1])}: left to {os.path.basename(compiler)} as it is ({reason})\n")
        os.execvp(compiler, [compiler, *args])


if __name__ == "__main__":
    main(*sys.argv[1:])
