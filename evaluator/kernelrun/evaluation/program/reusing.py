"""A reference's answers and times, kept for further comparisons with it (reuse_reference).

The reference is recorded in a stage of its own, before the other kernel has a process: nothing that is compared with it can slow it
down, or see what is kept. The other kernel then gets the same inputs, drawn again from the same seeds, in another order. An answer
is compared with what the reference gave: with all of it in the trials of the check, and in a timed call with elements at places
that only this process knows.

These inputs come back, and what a kernel prints is told: a source could contain the answers to them, or the inputs. So the worker is told
how many bytes that takes, and a kernel is compared with the reference only if it has much less.

All of it is in the memory of this process, which serves one caller on one device, and ends with that.
"""

import functools
import math
import secrets
import time
from typing import Any, NamedTuple

import torch

import compare
import outputs
import timing
from sides import Inputs, Lost, secret_of
from stages import TRIALS, Stages, undisturbed
from trials import OVERHEAD, Draw, Output, any_of, content, has_nan, look, numbers_of, packed

AGE = 600  # seconds for which a reference is used
MOST_REFERENCES = 256  # also unfit ones; bytes are scarcer
MOST_BYTES, LARGEST = 1 << 30, 1 << 29  # of all references, and of one
ELEMENTS, LEAST_ELEMENTS = 1 << 16, 1 << 12  # of an output that are checked in a timed call
_UNTIMED = 4  # calls before those that count
_TELLING = 3  # calls that show how long all take
_CALLS = 100  # timed calls of a reference, at least if they take no longer than a few of them do anyway
_MOMENTS = 2  # at which the kernels are timed: each adds what a time on a device differs by


class Unfit(Exception):
    """No other comparison can use this reference; the message has the reason."""


class Reference(NamedTuple):
    """The record of a reference. draws begins with the trials of the check."""

    draws: list
    calls: list
    clocks: timing.EvaluationClocks
    taken: float  # when, on this process's clock
    content: int  # bytes that a source needs at least to contain the answers of its calls
    form: object = None  # of its outputs
    trivial: object = None  # what passes the check, too

    def bytes(self):
        return sum(draw.bytes() for draw in self.draws)


class Kept:
    """The references of this process, by keys of the worker's: equal where all that they depend on is. None stands for one that
    is unfit, with the time of that."""

    def __init__(self):
        self._known = {}  # the least recently used first

    def find(self, key, trials):
        """The reference if it has so many timed calls and is young enough; else None."""
        self._forget_old()
        reference, taken = self._known.get(key, (None, 0.0))
        if reference is None or len(reference.calls) < trials:
            return None
        del self._known[key]
        self._known[key] = reference, taken
        return reference

    def keep(self, key, reference):
        self._known.pop(key, None)
        self._known[key] = reference, reference.taken if reference else time.monotonic()
        while len(self._known) > MOST_REFERENCES or sum(kept.bytes() for kept, _ in self._known.values() if kept) > MOST_BYTES:
            del self._known[next(iter(self._known))]

    def told(self):
        """Returns the number of timed calls of each, 0 for an unfit one, and its content."""
        self._forget_old()
        return {key: {"calls": len(kept.calls) if kept else 0, "content": kept.content if kept else 0} for key, (kept, _) in self._known.items()}

    def _forget_old(self):
        least = time.monotonic() - AGE
        self._known = {key: entry for key, entry in self._known.items() if entry[1] > least}


@functools.cache
def kept():
    return Kept()


def key(mode):
    """The key of the reference that a stage is about; None if it is about none that is kept."""
    if mode not in ("record", "recall"):
        return None
    with open("reference", encoding="utf-8") as file:
        return file.read()


class Recording(Stages):
    """The stages of a reference alone, whose answers and times are kept."""

    draws_ahead = False  # a draw is kept with its call

    def __init__(self, *given):
        super().__init__(*given)
        self.decision = None  # it is kept for kernels that need all calls
        # The other kernel's contract is of no interest, unless it says what the inputs are.
        labels = ("ref",) if self.request.get("inputs") or self.request["ref"].get("io") else ("ref", "custom")
        self.inputs = Inputs(self.request, self.clocks.device, self.generator if self.request.get("inputs") else None, labels)
        self.compared, self.draws, self._bytes = False, [], 0
        self._drawn: Any = None
        self._last, self._quickest, self.reference = 0.0, math.inf, None

    def record(self):
        """Records the reference. If there is none then, trying again would cost the same time, most likely for nothing."""
        if self.load() and self.validate():
            self.profile()

    def draw(self, trial):
        self._check_time(trial - TRIALS - 1)
        secret = secret_of(trial)
        values = self.inputs.draw(trial, secret)
        known_by, tensors = look(values["ref"], self.clocks.device)
        self._drawn = secret, known_by, packed(tensors)
        return values

    def _check_time(self, done):
        """Raises Unfit if as many calls as are asked for will not fit, even if all take as long as the quickest turn so far."""
        now = time.monotonic()
        if done > 0:
            self._quickest = min(self._quickest, now - self._last)
        self._last = now
        if done >= _TELLING and now + self._quickest * (_UNTIMED + self.request["num_trials"] + 1 - done) > self.ends:
            raise Unfit("Its calls take too long.")

    def differences(self, made, values=None):
        """Keeps the outputs of the call."""
        answer, made["ref"].answer = made["ref"].answer, None
        compare.check_form(answer, answer)
        if values is not None:
            self.bind(self.kernels["ref"].form, answer)
        if any_of([has_nan(tensor) for tensor in answer], self.clocks.device):
            for index, tensor in enumerate(answer):
                compare.refuse_nan(index, int(compare.nans(numbers_of(tensor))[0]), 0, 0)
        most = math.inf if len(self.draws) < TRIALS else self._elements(answer)
        self._bytes += sum(OVERHEAD + min(tensor.numel(), most) * tensor.element_size() for tensor in answer) + OVERHEAD * len(self._drawn[1].sums)
        if self._bytes > LARGEST:
            raise Unfit("Its answers are too large.")
        secret, known_by, sizes = self._drawn
        self.draws.append(Draw(secret, known_by, sizes, [Output(tensor, most) for tensor in answer]))
        if values is not None:
            self.trivial.see(answer, values["ref"])
        return True, 0.0, 0.0, None

    def _elements(self, answer):
        """Returns the number of elements of each output that fit in a timed call."""
        room = (LARGEST - sum(draw.bytes() for draw in self.draws[:TRIALS])) // (_UNTIMED + self.most_calls())
        room -= OVERHEAD * (len(answer) + len(self._drawn[1].sums))
        elements = min(ELEMENTS, room // max(sum(tensor.element_size() for tensor in answer), 1))
        if elements < LEAST_ELEMENTS and any(tensor.numel() > elements for tensor in answer):
            raise Unfit("There is no room for so many answers.")
        return elements

    def untimed(self):
        return _UNTIMED

    def most_calls(self):
        return max(super().most_calls(), _CALLS)

    def time_all(self):
        values = super().time_all()
        self._repeat(self.draws[TRIALS])
        return values

    def _repeat(self, draw):
        """Makes one call again: inputs that are other ones then, or answers that depend on the calls before, cannot be kept."""
        values = self.inputs.draw(TRIALS, draw.secret)
        (form, sums), _ = look(values["ref"], self.clocks.device)
        if form != draw.look.form or not torch.equal(sums, draw.look.sums):
            raise Unfit("Its inputs differ when they are drawn again.")
        again = self.turn(values)["ref"].answer
        if not draw.differences(again, self.tolerance, sums)[0]:
            raise Unfit("It answers the same inputs differently.")

    def hand_on(self):
        return None

    def tell_times(self, values, alone):
        calls, read = self.calls("ref"), self.read(values)
        if self.clocks.kind == "cuda":  # times of a processor are not used
            undisturbed(read, alone)
        if len(calls) >= self.request["num_trials"]:
            seeded = bool(self.request.get("inputs")) or self.clocks.kind == "host"
            size = content(self.draws[TRIALS:], self.tolerance, seeded)
            self.trivial.forget()
            self.reference = Reference(self.draws, calls, read["ref"], time.monotonic(), size, self.kernels["ref"].form, self.trivial)


class Recalling(Stages):
    """The stages of a kernel that is compared with a kept reference. A processor has other work at each moment, so times of two moments
    are not compared there: on two cores with some, a kernel seemed to be up to 3 times as fast as itself."""

    draws_ahead = False

    def __init__(self, reference, *given):
        self._reference = reference
        super().__init__(*given)
        self.compared, self._sums, self.trivial = True, None, reference.trivial
        self._now: Any = None
        self.inputs.fresh = False  # an earlier kernel may have told them
        self.report["reused_reference"] = {"seconds_old": time.monotonic() - reference.taken, "calls": len(reference.calls)}
        self._left = reference.draws[TRIALS:]
        secrets.SystemRandom().shuffle(self._left)

    def draw(self, trial):
        if trial >= TRIALS and not self._left:
            raise Lost  # the kernel asked for more room in too many calls
        self._now = self._reference.draws[trial] if trial < TRIALS else self._left.pop()
        values = self.inputs.draw(trial, self._now.secret)
        (form, self._sums), _ = look(values["ref"], self.clocks.device)
        if form != self._now.look.form:
            raise Lost
        return values

    def differences(self, made, values=None):
        actual, made["custom"].answer = made["custom"].answer, None
        if values is not None:
            self.pairing = outputs.pair(self._reference.form, self.kernels["custom"].form)
            self.bind(self._reference.form, [output.form for output in self._now.outputs])
        *found, first = self._now.differences(self.pairing.sort(actual), self.tolerance, self._sums)
        return *found, self.named(first)

    def most_calls(self):
        return min(super().most_calls(), len(self._reference.calls))

    def calls(self, label):
        return self._reference.calls if label == "ref" and self.clocks.kind == "cuda" else super().calls(label)

    def apart(self, *medians, waits=False):
        return math.sqrt(_MOMENTS) * super().apart(*medians, waits=waits)

    def hand_on(self):
        """Returns nothing: compiled files of its process could contain the answers, and these inputs come back."""
        return None

    def time_reference(self):
        """Tells the times that are kept."""
        if self.clocks.kind == "cuda":
            self.tell_reference(self._reference.clocks)
            self.save()

    def read(self, values):
        kernel, ref = self.kernels["custom"], self._reference.clocks
        custom = self.clocks.read(kernel.calls, values["custom"], kernel.regions, False, ref)
        return {"custom": custom} if self.clocks.kind == "host" else {"ref": ref, "custom": custom}
