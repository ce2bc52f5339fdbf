"""Checks that an answer is within a tolerance of the reference's answer, for tasks and for evaluations.

Arrays are torch tensors or NumPy arrays. gaps, beyond, and count copy nothing from a device to the host.
"""

from __future__ import annotations

import contextlib
import math
import sys
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORDS = ("atol", "rtol", "matched", "max_error", "equal_nan", "infinite")
LARGE = 0.5  # from this rtol on, a large constant answer could be within rtol of itself of any number
STANDARD = 0.01  # default of atol and rtol; covers a rounding step of bfloat16 and of float16

# Default (atol, rtol) of the types of at most 8 bits, which cover one rounding step.
STEPS = {
    "float8_e4m3fn": (STANDARD, 1 / 8), "float8_e4m3fnuz": (STANDARD, 1 / 8), "float8_e5m2": (STANDARD, 1 / 4), "float8_e5m2fnuz": (STANDARD, 1 / 4),
    "float8_e8m0fnu": (0.0, 1.0), "float4_e2m1fn_x2": (0.5, 3 / 8),
}


class Mismatch(Exception):
    """An answer differs from the reference's; the message describes the difference."""


class BadReference(Mismatch):
    """The reference's answer cannot be compared with any answer; the message has the reason."""


class Tolerance(NamedTuple):
    """The largest allowed difference of an output."""

    atol: float = STANDARD
    rtol: float = STANDARD
    matched: float = 1.0  # the share of the elements that must be within atol and rtol
    max_error: float | None = None  # the limit for the difference of any element
    equal_nan: bool = False  # NaN agrees with NaN
    infinite: str = "equal"  # infinities that agree with themselves: equal (all), negative, or never
    fitting: bool = True  # neither atol nor rtol is given, so STEPS applies to types of few bits
    named: dict[Any, Tolerance] = {}  # tolerances of some outputs, by name or number
    places: tuple[Tolerance, ...] = ()  # tolerances of all outputs, set by bind

    @classmethod
    def of(cls, words: dict[str, Any]) -> Tolerance:
        """Returns the tolerance that a task or a request sets in words, a dict, with tolerances of some outputs."""
        default = cls()._with(words)
        return default._replace(named={name: default._with(own) for name, own in (words.get("tolerances") or {}).items()})

    def _with(self, words: dict[str, Any]) -> Tolerance:
        known = {word: words[word] for word in WORDS if words.get(word) is not None}
        return self._replace(**known, fitting=words.get("fitting", self.fitting and "atol" not in known and "rtol" not in known))

    def bind(self, names: Sequence[str], dtypes: Iterable[Any]) -> Tolerance:
        """Returns a copy with the tolerance of each output (places), for outputs with these names and types. Raises
        BadReference if named has a name that no output has."""
        known = [{name, str(place)} - {""} for place, name in enumerate(names)]
        for name in self.named:
            if not any(name in own for own in known):
                outputs = ", ".join(name or str(place) for place, name in enumerate(names))
                raise BadReference(f"tolerances -> {name}: the reference gives no output of this name; its outputs are {outputs}")
        places = (next((self.named[name] for name in self.named if name in own), self) for own in known)
        return self._replace(places=tuple(one._fit(dtype) for one, dtype in zip(places, dtypes)))

    def _fit(self, dtype: Any) -> Tolerance:
        atol, rtol = STEPS.get(str(dtype).removeprefix("torch."), (self.atol, self.rtol))
        return self._replace(atol=atol, rtol=rtol, fitting=False) if self.fitting else self

    def output(self, place: int) -> Tolerance:
        """Returns the tolerance of an output."""
        return self.places[place] if self.places else self

    def is_exact(self, whole: bool) -> bool:
        """Reports whether elements must be equal. This is so for whole numbers and booleans, because they may be
        indices and flags, unless atol is 1 or more, which can only be meant for integers."""
        return whole and self.atol < 1

    def most_wrong(self, elements: int) -> int:
        """Returns the number of elements of an output that may be outside the tolerance."""
        return math.floor((1 - self.matched) * elements + 1e-6)

    def __str__(self) -> str:
        more = {"required_matched_ratio": self.matched if self.matched < 1 else None, "max_error": self.max_error}
        return f"atol={float(self.atol)}, rtol={float(self.rtol)}" + "".join(f", {word}={value}" for word, value in more.items() if value is not None)


def gaps(want: Any, got: Any, tolerance: Tolerance) -> Any:
    """Returns the difference of each element: 0 for infinities and NaN that agree, infinity or NaN for those that do
    not."""
    library, agree = _library(want), want == got
    if tolerance.infinite == "never":
        agree = agree & library.isfinite(want)
    elif tolerance.infinite == "negative":
        agree = agree & (want != math.inf)
    if tolerance.equal_nan:
        agree = agree | (library.isnan(want) & library.isnan(got))
    gap = abs(want - got)
    return gap.masked_fill_(agree, 0.0) if library.__name__ == "torch" else library.where(agree, 0.0, gap)


def beyond(gap: Any, scale: Any, other: Any, tolerance: Tolerance) -> tuple[Any, Any]:
    """Returns two masks: the elements outside the tolerance, and those beyond max_error, which matched does not allow
    (None without max_error). rtol is relative to scale, or from LARGE on to the smaller of scale and other."""
    library, size = _library(gap), abs(scale)
    if tolerance.rtol >= LARGE:
        size = library.minimum(size, abs(other))
    wrong = ~((gap == 0) | (library.isfinite(gap) & (gap <= tolerance.atol + tolerance.rtol * size)))
    if tolerance.max_error is None:
        return wrong, None
    far = ~(gap <= tolerance.max_error)
    return wrong | far, far


def count(wrong: Any, far: Any) -> Any:
    """Returns the number of wrong elements; if far has one, a number larger than the number of elements."""
    return wrong.sum() if far is None else wrong.sum() + far.any() * (math.prod(wrong.shape) + 1)


def first(wrong: Any, far: Any) -> Any:
    """Returns the flat index of the first element in far, or else of the first wrong one."""
    library = _library(wrong)
    found = [mask.reshape(-1).astype("int8") if library.__name__ == "numpy" else mask.flatten().to(library.int8) for mask in (wrong, far) if mask is not None]
    return found[0].argmax() if far is None else library.where(far.any(), found[1].argmax(), found[0].argmax())


def _library(array):
    return sys.modules["torch" if type(array).__module__.startswith("torch") else "numpy"]


def difference(wanted: Any, given: Any, words: dict[str, Any]) -> str:
    """Returns a sentence about the first part of an answer that is wrong; empty if it is right. Raises BadReference."""
    want, have = list(_leaves(wanted)), list(_leaves(given))
    if isinstance(wanted, dict) and isinstance(given, dict) and wanted.keys() != given.keys():
        return f"The answer has {', '.join(map(str, given))}, and the reference's has {', '.join(map(str, wanted))}."
    if len(want) != len(have):
        return f"The answer has {len(have)} parts, and the reference's has {len(want)}."
    names, by_name = [name for name, _ in want], dict(have)
    tolerance = Tolerance.of(words).bind(names, [getattr(value, "dtype", "") for _, value in want])
    for place, (name, expected) in enumerate(want):
        actual = by_name[name] if by_name.keys() == set(names) else have[place][1]
        if text := _difference(expected, actual, tolerance.output(place)):
            return f"output {name}: {text}" if name[:1].isdigit() else f"{name}: {text}" if name else text
    return ""


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields (name, value) of the arrays, numbers, and texts of an answer."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif hasattr(value, "__dataclass_fields__") or hasattr(value, "to_tuple"):
        items = vars(value).items()
    else:
        yield name, value
        return
    for key, item in items:
        yield from _leaves(item, f"{name}.{key}" if name else str(key))


def _difference(want, have, tolerance):
    if want is None or isinstance(want, str):
        return "" if want == have else f"The answer is {have!r}, and the reference's is {want!r}."
    if not hasattr(have, "shape") and not isinstance(have, (bool, int, float, complex)):
        return f"The answer is a {type(have).__name__} in place of numbers."
    want, have = _arrays(want, have)
    if want.shape != have.shape:
        return f"The answer has the shape {tuple(have.shape)}, and the reference's has {tuple(want.shape)}."
    if want.dtype != have.dtype:
        return f"The answer is of {have.dtype}, and the reference's of {want.dtype}."
    wrong, far = _wrong(want, have, tolerance)
    if math.prod(want.shape) == 0 or int(count(wrong, far)) <= tolerance.most_wrong(math.prod(want.shape)):
        return ""
    at = int(first(wrong, far))
    shown = [array.reshape(-1)[at].item() for array in (have, want)]
    return f"{int(wrong.sum())} of {math.prod(want.shape)} elements differ. Element {at} is {shown[0]}, and the reference's is {shown[1]}."


def _arrays(want, have):
    """Returns both as arrays of the library of want, on its device. If want is a Python number, have is converted to
    its type."""
    if hasattr(want, "detach"):
        return want.detach(), sys.modules["torch"].as_tensor(have).detach().to(want.device)
    import numpy

    is_number, want = not hasattr(want, "dtype"), numpy.asarray(want)
    have = numpy.asarray(have.detach().cpu() if hasattr(have, "detach") else have)
    return want, have.astype(want.dtype) if is_number and have.dtype.kind == want.dtype.kind else have


def _wrong(want, have, tolerance):
    library = _library(want)
    if library.__name__ == "torch":
        whole = not (want.is_floating_point() or want.is_complex())
        if not whole and want.element_size() < 4:
            want, have = want.float(), have.float()
    else:
        whole = want.dtype.kind not in "fc"
        if want.dtype.itemsize < 4 and not whole:
            want, have = want.astype("float32"), have.astype("float32")
    if tolerance.is_exact(whole):
        return want != have, None
    if whole:  # differences of integers could overflow
        want, have = (want.double(), have.double()) if library.__name__ == "torch" else (want.astype(float), have.astype(float))
    nan = library.isnan(want)
    if not tolerance.equal_nan and bool(nan.any()):
        raise BadReference("The reference's answer has NaN, with which nothing can be compared. Choose inputs that avoid it, or equal_nan")
    with contextlib.nullcontext() if library.__name__ == "torch" else library.errstate(invalid="ignore", over="ignore"):
        wrong, far = beyond(gaps(want, have, tolerance), want, have, tolerance)
    alone = library.isnan(have) != nan
    return wrong | alone, alone if far is None else far | alone
