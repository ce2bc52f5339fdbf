"""Tests whether an answer that computes nothing would pass the check, which then proves nothing about a kernel.

In each trial of the check, such answers are compared with the reference's within the request's tolerance: zeros, the
mean of all elements, the largest number of the dtype and its negative, a copy of an input, and the answer of the other
trial.
"""

from typing import Any

import torch

import compare
import contract
import packing
from trials import look

LARGEST = ("the largest number of the type", "its negative largest number")
FEW = 1 << 12  # elements of an output that are compared first; only answers that agree there are compared in full
MOST_KEPT = 1 << 26  # larger outputs, in bytes, are not kept as an answer to the next trial


class Trivial:
    """The trivial answers that have passed in all trials so far."""

    def __init__(self, tolerance):
        self._tolerance, self._passing, self._inputs = tolerance, None, None
        self._outputs: Any = None
        self.exact = False  # True if an output was compared exactly although the request has a tolerance

    def see(self, expected, values):
        """Evaluates a trial: expected are the reference's outputs, and values are its inputs."""
        sums = look(values, expected[0].device)[0].sums
        fresh = self._inputs is not None and not torch.equal(sums, self._inputs)
        before = self._outputs if fresh and len(self._outputs) == len(expected) else [None] * len(expected)
        passing = [self._passes(want, list(candidates(want, other, packing.tensors_in(values))), self._tolerance.output(place))
                   for place, (want, other) in enumerate(zip(expected, before))]
        self._passing = passing if self._passing is None else [also(*pair) for pair in zip(self._passing, passing)]
        self.exact = any(compare.is_exact(want.dtype, own) and own.atol + own.rtol > 0 for want, own in
                         ((want, self._tolerance.output(place)) for place, want in enumerate(expected)))
        self._inputs, self._outputs = sums, [want.clone() if want.numel() * want.element_size() <= MOST_KEPT else None for want in expected]

    def _passes(self, want, answers, tolerance):
        """Returns the names of the answers that would pass in place of one output; None if the output has no
        elements."""
        if want.numel() == 0:
            return None
        few = [compare.wrong(*sample(want, got), tolerance) for _, got in answers]
        likely = [answer for answer, wrong in zip(answers, torch.stack(few).tolist()) if wrong <= tolerance.most_wrong(min(FEW, want.numel()))]
        return {name for name, got in likely if int(compare.wrong(want, got, tolerance)) <= tolerance.most_wrong(want.numel())}

    def bind(self, tolerance):
        """Replaces the tolerance by one that has separate tolerances for the outputs."""
        self._tolerance = tolerance

    def forget(self):
        """Drops the outputs of the last trial."""
        self._outputs = None

    def reasons(self, label):
        """Returns (the reason why the check proves nothing, or None; sentences about single outputs). label(place)
        returns the beginning of a sentence about an output."""
        outputs = [(place, sorted(found, key=order)) for place, found in enumerate(self._passing or []) if found is not None]
        said = [f"{label(place)}{found[0]} would pass as well." for place, found in outputs if found]
        said = [text[0].upper() + text[1:] for text in said]
        if said and len(said) == len(outputs):
            return " ".join([*said, "Choose a smaller tolerance, or inputs that make a difference."]), []
        return None, said


def candidates(want, before, inputs):
    """Yields (name, tensor) for each answer that computes nothing and could replace the output `want`. before is the
    output of the other trial, or None."""
    yield "zeros", torch.zeros_like(contract.bits(want)).view(want.dtype)
    if want.numel() > 1 and not contract.is_small_float(want.dtype):
        mean = compare.numbers(want).mean()
        yield "the mean of all elements", (mean if want.dtype.is_complex or want.dtype.is_floating_point else mean.round()).to(want.dtype).expand(want.shape)
    if want.dtype.is_floating_point:
        yield from zip(LARGEST, contract.largest(want))
    for place, value in enumerate(inputs):
        if value.numel() == want.numel() and value.dtype == want.dtype:
            yield f"a copy of input {place}", value.to(want.device).reshape(want.shape)
    if before is not None and before.shape == want.shape and before.dtype == want.dtype:
        yield "the answer to other inputs", before


def order(name):
    return ("zeros", "the answer to other inputs", "the mean of all elements", *LARGEST, name).index(name)


def also(one, other):
    """Returns the answers that pass in two trials. The first trial has no answer to other inputs, so that one counts
    as passed in it."""
    if one is None or other is None:
        return one if other is None else other
    return (one | {"the answer to other inputs"}) & other


def sample(want: Any, got: Any) -> tuple[Any, Any]:
    """Returns at most FEW elements of both tensors, at the same random places."""
    if want.numel() <= FEW:
        return want, got
    places = torch.randint(want.numel(), (FEW,), device=want.device)
    some_wanted, some_got = (contract.bits(tensor.reshape(-1))[places].view(tensor.dtype) for tensor in (want, got))
    return some_wanted, some_got
