"""The judge's view of the kernels' processes: a channel and a page for each, and the requests to them."""

import contextlib
import json
import pickle
import secrets
import time
from typing import Any

import torch

import compare
import contract
import outputs
import packing
from warpboard_answer import BadAnswer
from warpboard_calls import Runner
from warpboard_regions import HostMemory
from warpboard_setup import NOTICED_NS, described
from warpboard_wire import END, Refused, RunnerGone


MOST_TEXT = 32 << 10  # longest text that is used of a process's message, in characters
# Bytes by which the inputs of the second trial are moved, so that they have other addresses than in the first
MOVED = 1 << 16


class Raised(Exception):
    """The request's code raised an exception. The message is for its author; label names the kernel or process."""

    def __init__(self, text, label):
        super().__init__(text)
        self.label = label


class Gone(RunnerGone):
    """A process has ended before its work was done. The argument is its label."""


class Lost(Exception):
    """A stored reference cannot be used: it is missing, or its inputs are different when they are drawn again."""


class NoFlush(HostMemory):
    """Host memory for calls before which the CPU's caches are not flushed."""

    def __init__(self):
        pass

    def flush(self):
        pass


class Side:
    """A process with the source of one kernel, or the one that draws inputs. Each has separate shared memory
    (regions), so none sees the inputs or answers of another. arrived is (number, channel, page) from the door."""

    def __init__(self, label, door, arrived, regions, host, cuda):
        self.label, self.calls, self.regions, self.form = label, [], regions, None
        self._door, (self._number, channel, page) = door, arrived
        self._page, self._dismissed, self._ended, self._channel, self._loaded, self._checking = page, False, False, channel, None, True
        self._runner = Runner(channel, page, self.regions, host, cuda)
        self._device = "cpu" if cuda is None else "cuda"

    def ready(self):
        """Waits until the source is loaded. Returns (the reason if loading failed, else None; the seconds that it
        took, as the process reports)."""
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self):
        try:
            self._runner.ready()
        except RunnerGone as error:
            raise Gone(self.label) from error
        try:
            loaded = json.loads(self._page.description())
            why, seconds = loaded["error"], float(loaded["seconds"])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise Refused("The process of a kernel did not say how loading it went.") from None
        self._runner.begin_case()
        return None if why is None else str(why)[:MOST_TEXT], seconds if 0 <= seconds < 1e6 else 0.0

    def begin(self, io):
        """Begins a case with this contract, and drops the calls of the previous case."""
        self.ask("begin", io)
        self.calls, self.form, self._checking = [], None, True
        self._runner.begin_case()

    def send_init(self, init, why):
        """Sends the constructor's arguments, or the reason why they are missing. The process waits for this message."""
        try:
            self._channel.send(packing.INIT, pickle.dumps((init, why)))
        except RunnerGone as error:
            raise Gone(self.label) from error

    def ask(self, what, *rest, flags=0, during=None):
        """Makes one call of a method of kernel_process.Served. The returned call's `answer` is the result; `again`
        means that the call was repeated because the answer needed more memory, so the process had already seen the
        input. during() is called while the process queues its work."""
        asked = []

        def build():
            asked.append(what)
            return (what, *rest)

        try:
            made: Any = self._runner.call(build, flags, during)
        except BadAnswer as bad:
            text = str(bad).replace("custom_kernel", "the kernel")
            raise Raised(text[:1].upper() + text[1:], self.label) from None
        except RunnerGone as error:
            raise Gone(self.label) from error
        answer = made.answer
        if type(answer) is tuple and len(answer) == 2 and answer[0] == "raised":
            raise Raised(str(answer[1])[:MOST_TEXT], self.label)
        if type(answer) is not list or len(answer) != 1:
            raise Refused("The process of a kernel answered something that no call gives.")
        made.data, made.answer, made.again = None, answer[0], len(asked) > 1
        return made

    def call(self, values, flags=0, moved=False, during=None):
        """Makes one call of the kernel; `answer` of the returned call is a list of tensors. Before checked(), it
        also sets self.form. moved places the inputs at other addresses; during is as in ask()."""
        views = packing.share(values)
        before = torch.zeros(MOVED, dtype=torch.uint8, device=self._device) if moved else None
        what, given = ("call", values) if views is None else ("call_sharing", views)
        made = self.ask(what, before, given, flags=flags, during=during)
        if self._checking and type(made.answer) is list and type((made.answer or [None])[0]) is str:
            text, *made.answer = made.answer
            self.form = outputs.Form.read(text, len(made.answer))
        if type(made.answer) is not list or not all(isinstance(tensor, torch.Tensor) for tensor in made.answer):
            raise Refused("The process of a kernel answered something else than tensors.")
        return made

    def setup(self, meta):
        """Calls the kernel's setup. Returns its duration in ns on the judge's clock, or 0 if there is no setup. The
        process could deny that it has a setup, but a call of more than NOTICED_NS counts as one."""
        began = time.monotonic_ns()
        there = self.ask("setup", meta).answer
        took = time.monotonic_ns() - began
        self._runner.begin_case()
        return took if there is True or took > NOTICED_NS else 0

    def checked(self):
        """Makes all further answers consist of tensors only, because reading a text takes time that would count for
        the kernel."""
        self.ask("checked")
        self._checking = False
        self._runner.begin_case()  # because the input of this call had another form than those of the timed calls

    def compiled(self):
        """Returns the packed files that the kernel's process compiled, or None. The judge does not unpack them."""
        try:
            answer = self.ask("compiled").answer
        except Raised:
            return None
        return bytes(answer.numpy()).decode("ascii", "replace") if isinstance(answer, torch.Tensor) and answer.dtype == torch.uint8 else None

    def dismiss(self):
        """Tells the process that no more calls follow. Does nothing if called again. A process that is still loading
        ends after that, or the worker kills it."""
        if self._dismissed:
            return
        self._dismissed = True
        self._door.over(self._number)
        if self._loaded is not None:
            return self._runner.dismiss()
        with contextlib.suppress(RunnerGone):
            self._channel.send(END)

    def end(self, wait=True):
        """Ends the process. With wait, returns when all its processes have ended; otherwise the worker makes sure of
        that."""
        if self._ended:
            return
        self.dismiss()
        self._ended = True
        if wait:
            self._channel.wait_end()
        else:
            self._channel.close()
        self._runner.end()  # frees the judge's own state for this process; the channel is closed


def secret_of(trial):
    """Returns a new secret for the inputs of a trial, or None for trial 0, which uses the request's seeds."""
    return secrets.token_bytes(32) if trial else None


class Inputs:
    """Draws the kernels' inputs: those of contracts in this process, those of get_inputs() in a process that is
    never timed."""

    def __init__(self, request, device, generator, labels=("ref", "custom"), case=None):
        self._generator, self._from, self.device, self._case = generator, request.get("inputs"), device, case or {}
        self._labels = [label for label in labels if request.get(label)]
        self._io = {label: contract.of_case(request[label].get("io"), self._case) for label in self._labels}
        known = {arg.get("name") for io in self._io.values() for arg in contract.arguments(io)}
        if generator is None and (unknown := [name for name in self._case if name not in known]):
            raise contract.ContractError(f"The case has {', '.join(unknown)}, and no contract has an argument of that name")
        # fresh is True if each draw gives other inputs, and None while this is not known.
        self._before, self.fresh = None, None
        # True if draws differ in something else than tensors, so that a kernel knows a part of its inputs before the
        # release. Shapes of tensors do not count.
        self.partly_known, self._known = False, None

    def draw(self, trial, secret):
        """Returns the inputs of a trial by label. If both kernels have the same tensor, it is identical in every
        bit."""
        base = self._from if self._generator else next((label for label in self._labels if self._io[label]), None)
        if base is None:
            raise compare.BadReference(compare.NO_INPUTS)
        drawn = {base: self._generated(secret) if self._generator else self._contracted(base, secret)}
        for label in self._labels:
            if label != base and self._io[label] is None:
                drawn[label] = drawn[base]
            elif label != base:
                drawn[label] = self._contracted(label, secret, self._io[base], drawn[base])
                compare.pair(self._io[base], drawn[base], self._io[label], drawn[label])
        if trial:
            self._note(drawn[base], self._io[base])
        known = packing.known_early(drawn)
        self.partly_known, self._known = self.partly_known or known is None or self._known not in (None, known), known
        return drawn

    def contract(self, label):
        """Returns the contract for calls of a kernel: its own, or if it has none and no get_inputs() is used, the
        other kernel's."""
        others = [] if self._generator else [io for io in self._io.values() if io]
        return self._io[label] or next(iter(others), None)

    def meta(self, label):
        """Returns the shapes, types, and constants of a kernel's inputs, in order, for its setup. With get_inputs(),
        they describe a separate draw that no call uses."""
        io = self.contract(label)
        return contract.described(io) if io or not self._generator else [described(value) for value in self._generated(secret_of(1))]

    def _contracted(self, label, secret, other=None, drawn=()):
        return contract.materialise(self._io[label], secret, self.device, other, drawn)

    def _generated(self, secret):
        drawn = packing.unpack(self._generator.ask("draw", secret, self._case).answer, self.device)
        if type(drawn) is not list:
            raise Refused("The process that draws the inputs answered something else than a list.")
        return drawn

    def _note(self, values, io):
        """Compares the inputs of the first two trials that have secrets, to determine whether draws are fresh."""
        if self.fresh is not None:
            return
        read = [values[i] for i in compare.read_by(io, values).values()] if io else packing.tensors_in(values)
        if self._before is None:
            self._before = read
        else:
            self.fresh = len(read) != len(self._before) or not all(map(compare.same, read, self._before))
            self._before = []
