"""Stores a reference's answers and times for further comparisons with it (reuse_reference).

The reference is recorded in a separate stage, before the other kernel has a process, so no kernel that is compared with
it can slow it down or see the recording. The other kernel then gets the same inputs, drawn again from the same seeds,
in another order. Its answers are compared with the recorded ones: all elements in the trials of the check, and in a
timed call elements at places that only this process knows.

Further kernels get these inputs again, and the requester sees what a kernel prints. A source could therefore contain
the answers to these inputs, or the inputs. So this process reports the smallest size of such a source in bytes, and the
worker compares a kernel with the reference only if its source is much smaller.

All recordings are in the memory of this process, which serves one caller on one device, and are lost when it ends.
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
from warpboard_wire import Refused

AGE = 600  # seconds after which a reference is recorded again
# Stored references, including those that cannot be reused; MOST_BYTES usually limits them earlier
MOST_REFERENCES = 256
MOST_BYTES, LARGEST = 1 << 30, 1 << 29  # memory of all stored references, and of one, in bytes
# Largest and smallest number of elements of an output that are checked in a timed call
ELEMENTS, LEAST_ELEMENTS = 1 << 16, 1 << 12
_UNTIMED = 4  # calls before the timed ones
_TELLING = 3  # timed calls after which the duration of all calls can be estimated
_CALLS = 100  # timed calls of a reference, unless their time limit (stages.CLOCKING) ends earlier
_MOMENTS = 2  # the two kernels are timed at two different times, and each time has its own deviation on a device


class Unfit(Exception):
    """The reference cannot be reused. The message has the reason."""


class Reference(NamedTuple):
    """The recording of a reference. The first TRIALS items of draws are the trials of the check."""

    draws: list
    calls: list
    clocks: timing.EvaluationClocks
    taken: float  # time of the recording, in seconds of time.monotonic()
    content: int  # smallest size of a source that contains the answers to the timed calls, in bytes
    form: object = None  # outputs.Form of the reference's outputs
    trivial: object = None  # trivial.Trivial: answers that compute nothing and still pass the check

    def bytes(self):
        return sum(draw.bytes() for draw in self.draws)


class Kept:
    """The stored references by the worker's keys, which are equal if everything that affects the recording is equal.
    None stands for a reference that cannot be reused."""

    def __init__(self):
        self._known = {}  # key → (reference or None, time of the recording); the least recently used come first

    def find(self, key, trials):
        """Returns the reference if it is young enough and has at least this number of timed calls, else None."""
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
        """Returns for each key the number of timed calls (0 for a reference that cannot be reused) and the smallest
        size of a source that contains its answers, in bytes."""
        self._forget_old()
        return {key: {"calls": len(kept.calls) if kept else 0, "content": kept.content if kept else 0} for key, (kept, _) in self._known.items()}

    def _forget_old(self):
        least = time.monotonic() - AGE
        self._known = {key: entry for key, entry in self._known.items() if entry[1] > least}


@functools.cache
def kept():
    return Kept()


def key(mode):
    """Returns the key of the reference that the stage records or compares with, or None in other modes."""
    if mode not in ("record", "recall"):
        return None
    with open("reference", encoding="utf-8") as file:
        return file.read()


class Recording(Stages):
    """The stages of a reference that runs alone and is recorded."""

    draws_ahead = False  # each draw is stored together with its call

    def __init__(self, *given):
        super().__init__(*given)
        self.decision = None  # make all calls, because a kernel that is compared later may need them
        # The other kernel's contract is used only if it is the one that describes the inputs.
        labels = ("ref",) if self.request.get("inputs") or self.request["ref"].get("io") else ("ref", "custom")
        self.inputs = Inputs(self.request, self.clocks.device, self.generator if self.request.get("inputs") else None, labels)
        self.compared, self.draws, self._bytes = False, [], 0
        self._drawn: Any = None
        self._last, self._quickest, self.reference = 0.0, math.inf, None

    def record(self):
        """Records the reference. self.reference stays None if this fails: a second try would take the same time and
        probably fail, too."""
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
        """Raises Unfit if the requested number of calls cannot be made in time, even if each takes only as long as
        the quickest so far."""
        now = time.monotonic()
        if done > 0:
            self._quickest = min(self._quickest, now - self._last)
        self._last = now
        if done >= _TELLING and now + self._quickest * (_UNTIMED + self.request["num_trials"] + 1 - done) > self.ends:
            raise Unfit("Its calls take too long.")

    def differences(self, made, values=None):
        """Stores the outputs of the call, and reports no differences."""
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
        """Returns the number of elements of each output that are stored for a timed call, so that the recording
        stays below LARGEST."""
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
        """Repeats one call. Raises Unfit if its inputs are different when they are drawn again, or if the answers
        differ."""
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
        if self.clocks.kind == "cuda":  # times of calls on the CPU are not reused
            undisturbed(read, alone)
        if len(calls) >= self.request["num_trials"]:
            seeded = bool(self.request.get("inputs")) or self.clocks.kind == "host"
            size = content(self.draws[TRIALS:], self.tolerance, seeded)
            self.trivial.forget()
            self.reference = Reference(self.draws, calls, read["ref"], time.monotonic(), size, self.kernels["ref"].form, self.trivial)


class Recalling(Stages):
    """The stages of a kernel that is compared with a stored reference. On the CPU, times that were measured at
    different times are not compared, because its load changes: on two cores with other work, a kernel seemed to be
    up to 3 times as fast as itself."""

    draws_ahead = False

    def __init__(self, reference, *given):
        self._reference = reference
        super().__init__(*given)
        self.compared, self._sums, self.trivial = True, None, reference.trivial
        self._now: Any = None
        self.inputs.fresh = False  # an earlier kernel may have revealed these inputs to its author
        self.report["reused_reference"] = {"seconds_old": time.monotonic() - reference.taken, "calls": len(reference.calls)}
        self._left = reference.draws[TRIALS:]
        secrets.SystemRandom().shuffle(self._left)

    def draw(self, trial):
        if trial >= TRIALS and not self._left:
            # Calls are repeated only when the answer needs more memory, which a right kernel's does in the check
            raise Refused("The kernel needed more and more memory for its answers.")
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
        """Returns None: compiled files from this process could contain answers to inputs that later kernels get
        again."""
        return None

    def time_reference(self):
        """Reports the stored times of the reference."""
        if self.clocks.kind == "cuda":
            self.tell_reference(self._reference.clocks)
            self.save()

    def read(self, values):
        kernel, ref = self.kernels["custom"], self._reference.clocks
        custom = self.clocks.read(kernel.calls, values["custom"], kernel.regions, self.inputs.partly_known, False, ref)
        return {"custom": custom} if self.clocks.kind == "host" else {"ref": ref, "custom": custom}
