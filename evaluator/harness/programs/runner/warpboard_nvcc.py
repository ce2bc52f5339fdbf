"""Stands in for nvcc while extensions are compiled: the same compile, sooner.

    python3 warpboard_nvcc.py NVCC ARGUMENT...

The arguments are those that torch gives to nvcc for one .cu file. nvcc says which commands it would run (--dryrun); those
that do not need each other run side by side: the device's chain and the host's. A source that includes torch/extension.h is
compiled twice at once, the second time with a torch/extension.h that has the tensors and leaves out the rest (neural
networks, optimizers, data loaders): these are torch's own headers, only fewer. What compiles with fewer is the same. What
does not is left to the full headers, and their errors are shown.

A command that is not of the known form goes to nvcc as it is.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

LOG = "warpboard.log"  # in the directory of the build
HOST = re.compile(r"(?:[\w.-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-[\d.]+)?")
DEVICE = ("cudafe++", "cicc", "ptxas", "fatbinary")
INCLUDES_ALL = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]torch/(?:extension|all|torch)\.h[>\"]", re.M)
BINDS = re.compile(r"pybind|\bpy::|PYBIND11|\bm\.def\b|torch/python\.h|\bTHP\w+")
TENSORS = "#pragma once\n#include <torch/types.h>\n"
BINDINGS = TENSORS + "#include <torch/csrc/utils/pybind.h>\n"


class Unknown(Exception):
    """The command is not of the form that this program knows."""


class Command:
    """One compile of one source: nvcc's arguments, with the places of those that this program changes."""

    def __init__(self, args):
        self.args = args
        self.source = self._after("-c")
        self.output = self._after("-o")
        self.depfile = self._after("--dependency-output") if "--dependency-output" in args else None
        if not self.source.endswith(".cu") or sum(arg.endswith((".cu", ".cpp", ".cc", ".c", ".o")) for arg in args) != 2:
            raise Unknown("one source and one object")

    def _after(self, flag):
        if self.args.count(flag) != 1 or self.args.index(flag) + 1 == len(self.args):
            raise Unknown(flag)
        return self.args[self.args.index(flag) + 1]

    def into(self, folder, headers):
        """The arguments of the same compile that writes into a folder, and finds headers before torch's."""
        moved = {self.output: os.path.join(folder, "object.o"), self.depfile: os.path.join(folder, "object.d")}
        first = ["-isystem", headers] if headers else []
        return first + [moved.get(arg, arg) for arg in self.args]


class Step:
    """One of nvcc's commands."""

    def __init__(self, line, folder):
        words = shlex.split(line)
        program = os.path.basename(words[0])
        if program not in DEVICE and not HOST.fullmatch(program):
            raise Unknown(program)
        self.line = line
        self.files = {path for path in re.findall(re.escape(folder) + r"[^\s\"',;]*", line) if not path.endswith(".module_id")}
        self.needs = []
        self.process = None
        self.code = None  # None until it has ended
        self.text = b""

    def start(self, env):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", "exec " + self.line], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)


class Compile:
    """One run of all of nvcc's commands for one source."""

    def __init__(self, nvcc, command, headers=None):
        self.command = command
        self.folder = tempfile.mkdtemp(prefix="nvcc-")
        self.changed = threading.Condition()
        self.stopped = False
        include = None
        if headers:
            include = os.path.join(self.folder, "include")
            os.makedirs(os.path.join(include, "torch"))
            with open(os.path.join(include, "torch", "extension.h"), "w") as file:
                file.write(headers)
        self.env, self.steps = self._plan(nvcc, command.into(self.folder, include))

    def _plan(self, nvcc, args):
        env = dict(os.environ, TMPDIR=self.folder)
        told = subprocess.run([nvcc, "--dryrun", *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if told.returncode:
            raise Unknown("dryrun")
        steps = []
        for line in told.stderr.splitlines():
            if not line.startswith("#$ "):
                raise Unknown(line)
            line = line[3:].strip()
            variable = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", line)
            if variable:
                env[variable[1]] = variable[2].strip()
            elif not line.startswith("rm "):  # of its own temporary files, which go with the folder
                steps.append(Step(line, self.folder))
        self._connect(steps)
        return env, steps

    def _connect(self, steps):
        """Has each step wait for those before it whose files it names, and the last for all: it includes what it
        does not name."""
        if len(steps) < 3:
            raise Unknown("few steps")
        for number, step in enumerate(steps):
            last = number == len(steps) - 1
            step.needs = [other for other in steps[:number] if last or other.files & step.files]
        self._name_module(steps)

    def _name_module(self, steps):
        """Gives the module its name in advance, which else one chain would make and the other wait for."""
        for step in steps:
            found = re.search(r"--module_id_file_name \"?([^\s\"]+)", step.line)
            if found and "--gen_module_id_file" in step.line:
                step.line = re.sub(r"\s--gen_module_id_file\b", "", step.line)
                self._write_module(found[1])

    def _write_module(self, path):
        with open(self.command.source, "rb") as file:
            source = zlib.crc32(file.read())
        name = re.sub(r"\W", "_", os.path.basename(self.command.source))
        output = zlib.crc32(os.path.abspath(self.command.output).encode())
        with open(path, "w") as file:
            file.write(f"_{output:08x}_{len(name)}_{name}_{source:08x}")

    def run(self):
        """Runs all steps. True when they made the object; what they wrote is in text."""
        with self.changed:
            while not self.stopped and self._start():
                self.changed.wait()
        for step in self.steps:
            while step.process and step.code is None:
                with self.changed:
                    self.changed.wait_for(lambda: step.code is not None)
        return not self.stopped and all(step.code == 0 for step in self.steps)

    def _start(self):
        """Starts what can be; False when nothing more is to come."""
        first = next((n for n, step in enumerate(self.steps) if step.code), len(self.steps))
        for step in self.steps[first + 1:]:
            kill(step)
        for step in self.steps[:first]:
            if not step.process and all(need.code == 0 for need in step.needs):
                step.start(self.env)
                threading.Thread(target=self._watch, args=[step]).start()
        return any(step.process and step.code is None for step in self.steps[:first])

    def _watch(self, step):
        text, _ = step.process.communicate()
        with self.changed:
            step.text, step.code = text, step.process.returncode
            step.took = time.monotonic() - step.began
            self.changed.notify_all()

    def stop(self):
        with self.changed:
            self.stopped = True
            for step in self.steps:
                kill(step)
            self.changed.notify_all()

    @property
    def text(self):
        """What nvcc would have written: it ends with the first command that fails."""
        text = b""
        for step in self.steps:
            text += step.text
            if step.code:
                break
        return text

    @property
    def code(self):
        return next((step.code for step in self.steps if step.code), 0)

    def deliver(self):
        """Puts the object, and the file of what it depends on, where the command says."""
        shutil.move(os.path.join(self.folder, "object.o"), self.command.output)
        if self.command.depfile:
            with open(os.path.join(self.folder, "object.d")) as file:
                text = file.read()
            with open(self.command.depfile, "w") as file:
                file.write(text.replace(os.path.join(self.folder, "object.o"), self.command.output))


def kill(step):
    if step.process and step.code is None:
        try:
            os.killpg(step.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def race(slim, full):
    """Runs both at once; the one that counts. The full one is stopped when the slim one has made its object."""
    thread = threading.Thread(target=full.run)
    thread.start()
    if slim.run():
        full.stop()
    thread.join()
    return slim if slim.code == 0 else full


def compile(nvcc, args):
    """Compiles one source, and returns the exit code."""
    began = time.monotonic()
    command = Command(args)
    with open(command.source, encoding="utf-8", errors="replace") as file:
        text = file.read()
    compiles = [Compile(nvcc, command)]
    try:
        if INCLUDES_ALL.search(text):
            compiles.insert(0, Compile(nvcc, command, BINDINGS if BINDS.search(text) else TENSORS))
            won = race(*compiles)
        else:
            won = compiles[0]
            won.run()
        sys.stdout.buffer.write(won.text)
        if won.code == 0:
            won.deliver()
        how = "slim headers" if won is not compiles[-1] else "full headers"
        with open(LOG, "a") as log:
            took = time.monotonic() - began
            log.write(f"{os.path.basename(command.source)}: nvcc, {how}, {took:.1f} s{'' if won.code == 0 else ', failed'}\n")
        if os.environ.get("PROBE"):
            for c in compiles:
                for step in c.steps:
                    print(c is won, shlex.split(step.line)[0], getattr(step, "began", 0) - began, getattr(step, "took", None), step.code, file=sys.stderr)
        return won.code
    finally:
        for one in compiles:
            shutil.rmtree(one.folder, ignore_errors=True)


def main(nvcc, *args):
    try:
        sys.exit(compile(nvcc, list(args)))
    except (Unknown, OSError, ValueError) as error:
        if os.environ.get("PROBE"):
            print("unknown:", repr(error), file=sys.stderr)
        sys.stdout.flush()
        os.execv(nvcc, [nvcc, *args])


if __name__ == "__main__":
    main(*sys.argv[1:])
