"""The errors of an answer against the task's reference_fp64(data), which computes the same in double precision. The
judge computes them from its copies, only in the test stage, and they decide nothing.

An element's relative error is its distance from the reference, over the reference's size, or over the smallest normal
number of the answer's type if the reference is even smaller. Its error in ULPs is the distance over that between two
neighbours of the answer's type at the reference: rounding makes at most 0.5. If answer or reference is not finite, they
must be equal (beyond the type's largest number: infinity); otherwise the element is unlike, and in no error.
"""

from __future__ import annotations

import contextlib
import math
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# For each type, the binary digits of its significand, with the implied one, and the binary exponent of its smallest
# normal number.
_FORMATS = {
    "float64": (53, -1022), "float32": (24, -126), "float16": (11, -14), "bfloat16": (8, -126),
    "float8_e4m3fn": (4, -6), "float8_e5m2": (3, -14), "complex128": (53, -1022), "complex64": (24, -126),
}
_LARGEST = 1e300  # limit of reported errors, so that they stay finite


class Incomparable(Exception):
    """Answer and reference cannot be compared; the message has the reason."""


def lines(answer: Any, reference: Any) -> Iterator[tuple[str, Any]]:
    """Yields (field, value) of the report; nothing for an answer without floating-point numbers."""
    compared = [_Comparison(*pair) for pair in _pairs(answer, reference, "")]
    if not compared:
        return
    yield "elements", sum(one.elements for one in compared)
    yield "unlike", sum(one.unlike for one in compared)
    worst = max(compared, key=lambda one: one.most)
    yield "worst", worst.where
    yield "got", worst.got
    yield "want", worst.want
    for name, errors in (("relative", [one.relative for one in compared]), ("ulp", [one.ulps for one in compared])):
        yield f"{name}_max", f"{min(max(float(part.max()) for part in errors), _LARGEST):.6g}"
        yield f"{name}_p99", f"{min(_p99(errors), _LARGEST):.6g}"


def _pairs(answer, reference, path):
    """Yields (path, value, reference's value) for each floating-point array or number of an answer. path is its
    position, such as [0]."""
    kind = type(answer)
    if kind is dict:
        if type(reference) is not dict or answer.keys() != reference.keys():
            raise Incomparable(f"reference_fp64 must give a dict with the keys of the answer's{_at(path)}")
        for key, value in answer.items():
            yield from _pairs(value, reference[key], f"{path}[{key!r}]")
    elif isinstance(answer, (tuple, list)):
        if not isinstance(reference, (tuple, list)) or len(answer) != len(reference):
            raise Incomparable(f"reference_fp64 must give {len(answer)} values, as the answer has{_at(path)}")
        for index, value in enumerate(answer):
            yield from _pairs(value, reference[index], f"{path}[{index}]")
    elif _type_name(answer) in _FORMATS and (kind is float or math.prod(answer.shape) > 0):
        if _type_name(reference) not in ("float64", "complex128"):
            raise Incomparable(f"reference_fp64 must give float64, and gives {_type_name(reference)}{_at(path)}")
        yield path, answer, reference


def _at(path):
    return f" at {path}" if path else ""


def _type_name(value):
    if type(value) in (float, complex):
        return {float: "float64", complex: "complex128"}[type(value)]
    return str(getattr(value, "dtype", type(value).__name__)).removeprefix("torch.")


class _Comparison:
    """_Comparison has the errors of an array compared with the reference's."""

    def __init__(self, path, answer, reference):
        digits, least = _FORMATS[_type_name(answer)]
        library, received, expected = _doubles(answer, reference)
        if received.shape != expected.shape:
            raise Incomparable(f"reference_fp64 gives the shape {tuple(expected.shape)} where the answer has {tuple(received.shape)}{_at(path)}")
        shape, received, expected = received.shape, received.reshape(-1), expected.reshape(-1)
        self.relative, self.ulps, unlike = _errors(library, received, expected, digits, least)
        self.elements, self.unlike = len(received), int(unlike.sum())
        first = library.where(unlike, math.inf, self.ulps)
        at = int(first.argmax())
        self.most, self.where = float(first[at]), path + _index(at, shape)
        self.got, self.want = f"{float(received[at]):.{17 if digits == 53 else 9}g}", f"{float(expected[at]):.17g}"


def _doubles(answer, reference):
    """Returns torch or numpy, and both arguments as its arrays in double precision. A complex number becomes two
    numbers."""
    library: Any
    if hasattr(answer, "detach") or hasattr(reference, "detach"):
        library = sys.modules["torch"]
        answer = library.as_tensor(answer).detach()
        reference = library.as_tensor(reference).detach().to(answer.device)
    else:
        import numpy

        library = numpy
        answer, reference = library.asarray(answer), library.asarray(reference)
    if "complex" in _type_name(answer) + _type_name(reference):
        return library, *(library.stack([value.real, value.imag], -1) for value in _as(library, "complex128", answer, reference))
    return library, *_as(library, "float64", answer, reference)


def _as(library, kind, *arrays):
    kind = getattr(library, kind)
    return [value.to(kind) if hasattr(value, "detach") else value.astype(kind) for value in arrays]


def _errors(library, received, expected, digits, least):
    """Returns the relative errors, the errors in ULPs, and a mask of the elements that are not finite and differ."""
    with library.errstate(all="ignore") if hasattr(library, "errstate") else contextlib.nullcontext():
        # larger numbers round to infinity in the answer's type
        beyond = (1 - 2.0 ** -(digits + 1)) * 2.0 ** (1 - least) * 2
        same = (received == expected) | (library.isnan(received) & library.isnan(expected)) | (
            library.isinf(received) & (abs(expected) >= beyond) & (received * expected > 0))
        finite = library.isfinite(received) & library.isfinite(expected)
        distance = library.where(finite & ~same, abs(received - expected), 0.0)
        size = library.where(finite & (abs(expected) > 2.0**least), abs(expected), 2.0**least)
        _, exponent = library.frexp(size)
        spacing = library.exp2(exponent + 0 * size - digits)
        return distance / size, distance / spacing, ~(finite | same)


def _p99(parts):
    """Returns the 99th percentile of the errors."""
    rank = math.ceil(0.99 * sum(len(part) for part in parts))
    tensors = [part for part in parts if hasattr(part, "kthvalue")]
    if tensors:
        torch = sys.modules["torch"]
        every = torch.cat([torch.as_tensor(part).to(tensors[0].device) for part in parts])
        return float(every.kthvalue(rank).values)
    import numpy

    return float(numpy.partition(numpy.concatenate(parts), rank - 1)[rank - 1])


def _index(at, shape):
    """Returns the index in an array of a shape for a flat index."""
    index = []
    for length in reversed(shape):
        at, here = divmod(at, length)
        index.append(str(here))
    return f"[{', '.join(reversed(index))}]" if index else ""
