"""The commands of one compile. Commands that do not need each other's files run at the same time."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from warpboard_compiler import Command

HOST = re.compile(r"(?:[\w.-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-[\d.]+)?")
DEVICE = ("cudafe++", "cicc", "ptxas", "fatbinary")
# A process group of its own for a command, so that it can be killed with its children. The sandbox denies new sessions.
_OWN_GROUP: dict[str, Any] = {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}


class Unknown(Exception):
    """The compiler command, or a command that nvcc lists, has an unknown form."""


class Step:
    """Step is one command of a compile, as a shell command line."""

    def __init__(self, line: str, folder: str | None = None) -> None:
        self.name = os.path.basename(shlex.split(line)[0])
        self.line = line
        self.preprocesses = bool(HOST.fullmatch(self.name)) and " -E " in line
        self.files = {path for path in re.findall(re.escape(folder) + r"[^\s\"',;]*", line) if not path.endswith(".module_id")} if folder else set()
        self.needs: list[Step] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.code: int | None = None  # exit code; None until the command has ended
        self.text = b""
        self.took = 0.0

    def start(self, env: dict[str, str], polite: bool) -> subprocess.Popen[bytes]:
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", ("exec nice " if polite else "exec ") + self.line], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **_OWN_GROUP)
        return self.process

    def kill(self) -> None:
        if self.process and self.code is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Steps:
    """Steps are all commands of a compile, in nvcc's order. If polite is set, they run at a lower priority."""

    def __init__(self, steps: list[Step], env: dict[str, str]) -> None:
        self.all = steps
        self.env = env
        self.polite = False
        self.stopped = False
        self.changed = threading.Condition()

    def run(self) -> bool:
        """Runs the commands. Returns True if they made the object."""
        with self.changed:
            while not self.stopped and self._start():
                self.changed.wait()
            self.changed.wait_for(lambda: all(step.code is not None for step in self.all if step.process))
            return not self.stopped and self.code == 0

    def _start(self) -> bool:
        """Starts the commands whose inputs exist, and kills those after a failed one. Returns False if no command
        before the first failed one is running."""
        first = next((number for number, step in enumerate(self.all) if step.code), len(self.all))
        for step in self.all[first + 1:]:
            step.kill()
        for step in self.all[:first]:
            if not step.process and all(need.code == 0 for need in step.needs):
                threading.Thread(target=self._watch, args=[step, step.start(self.env, self.polite)]).start()
        return any(step.process and step.code is None for step in self.all[:first])

    def _watch(self, step: Step, process: subprocess.Popen[bytes]) -> None:
        text, _ = process.communicate()
        with self.changed:
            step.text, step.code, step.took = text, process.returncode, time.monotonic() - step.began
            self.changed.notify_all()

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            for step in self.all:
                step.kill()
            self.changed.notify_all()

    def _until_failure(self) -> Iterator[Step]:
        """Yields the steps up to and including the first that failed, after which nvcc itself would stop."""
        for step in self.all:
            yield step
            if step.code:
                return

    @property
    def text(self) -> bytes:
        return b"".join(step.text for step in self._until_failure())

    @property
    def code(self) -> int:
        return next((step.code if step.code > 0 else 1 for step in self.all if step.code), 0)


def of_host(command: Command, args: list[str], folder: str, depfile: str | None) -> Steps:
    """Returns the steps of a compile by g++, which is one command."""
    depends = ["-MMD", "-MF", depfile] if depfile else []
    return Steps([Step(shlex.join([command.compiler, *depends, *args]))], dict(os.environ, TMPDIR=folder))


def of_nvcc(command: Command, args: list[str], folder: str, depfile: str | None) -> Steps:
    """Returns the steps of a compile by nvcc, which lists its commands with --dryrun."""
    env = dict(os.environ, TMPDIR=folder)
    plan = subprocess.run([command.compiler, "--dryrun", *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if plan.returncode:
        raise Unknown("dryrun")
    steps = []
    for line in plan.stderr.splitlines():
        if not line.startswith("#$ "):
            raise Unknown(line)
        line = line[3:].strip()
        variable = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", line)
        if variable:
            env[variable[1]] = variable[2].strip()
        elif not line.startswith("rm "):  # not a removal of temporary files, which are removed with the folder
            steps.append(Step(line, folder))
    connect(steps)
    name_module(command, steps)
    if depfile:
        write_depends(steps, depfile)
    return Steps(steps, env)


def connect(steps: list[Step]) -> None:
    """Sets the steps that each step waits for: earlier ones with which it shares a file name. The last step waits for
    all, because it also includes files that it does not name. Raises Unknown if another than a preprocessing step waits
    for none."""
    if len(steps) < 3 or any(step.name not in DEVICE and not HOST.fullmatch(step.name) for step in steps):
        raise Unknown("steps")
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        step.needs = [other for other in steps[:number] if last or other.files & step.files]
        if not step.needs and not step.preprocesses:
            raise Unknown(step.line)


def name_module(command: Command, steps: list[Step]) -> None:
    """Writes the module's name in advance. Otherwise a host command would create it, and the device commands would wait
    for it. The name distinguishes the hidden symbols of two sources of one program."""
    for step in steps:
        found = re.search(r"--module_id_file_name \"?([^\s\"]+)", step.line)
        if not found or "--gen_module_id_file" not in step.line:
            continue
        step.line = re.sub(r"\s--gen_module_id_file\b", "", step.line)
        name = re.sub(r"\W", "_", os.path.basename(command.source))
        output = zlib.crc32(os.path.abspath(command.output).encode())
        with open(found[1], "w") as file:
            file.write(f"_{output:08x}_{len(name)}_{name}_{zlib.crc32(command.text().encode()):08x}")


def write_depends(steps: list[Step], depfile: str) -> None:
    """Makes the command that preprocesses host code also write the dependency file; nvcc would write it when
    preprocessing device code."""
    for step in steps:
        if step.preprocesses and "-D__CUDA_ARCH__=" not in step.line:
            words = step.line.split(" -E ", 1)
            step.line = f"{words[0]} -E -MMD -MF {shlex.quote(depfile)} {words[1]}"
            return
    raise Unknown("no step of the host's")
