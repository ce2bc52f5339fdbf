"""Outputs of a kernel: the tensors that are compared in every call, and a form that names all parts.

Numbers and NumPy arrays are copied to the kernels' device. In a call on a device, host code writes them before the
judge releases the call, and the judge overwrites the host's answers after the release. The kernel's process splits its
return value into parts; the judge reads the form and pairs the tensors of the two kernels.
"""

import dataclasses
import json
import sys
from typing import Any, NamedTuple

import torch

from compare import Mismatch
from contract import ContractError
from warpboard_wire import Refused

NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
WHAT_COUNTS = "outputs must be tensors, NumPy arrays, numbers, text, None, and lists, tuples, dicts and dataclasses of them"


class Written(list):
    """The tensors that a launch wrote, used in place of a return value. names has their names in the contract."""

    def __init__(self, tensors, names):
        super().__init__(tensors)
        self.names = names


def take_apart(returned, device="cpu"):
    """Splits a return value. Returns (its form as text, its tensors)."""
    parts: list[Any] = []
    tensors: list[Any] = []
    if isinstance(returned, Written):
        for name, tensor in zip(returned.names, returned):
            _add(tensor, (name,), parts, tensors)
    else:
        _add(returned, (), parts, tensors, device)
    return json.dumps([isinstance(returned, Written), parts]), tensors


def tensors_of(returned, device):
    """Returns only the tensors of a return value. The usual case, a single tensor on the device, is fast."""
    usual = type(returned) is torch.Tensor and returned.device.type == device
    return [returned] if usual else take_apart(returned, device)[1]


def _add(value, path, parts, tensors, device=None):
    """Appends (path, kind) of each part of a value to parts; a text part also has its content. Tensors are appended
    to tensors. Those on the host are copied to device without waiting, because the call may not be released yet."""
    numpy = sys.modules.get("numpy")
    if isinstance(value, torch.Tensor):
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout != torch.strided:
            raise ContractError(f"The kernel returned a {type(value).__name__} of layout {value.layout}: outputs must be dense tensors of torch's own type")
        parts.append((path, "tensor"))
        tensors.append(value if device is None or value.device.type == device else value.to(device, non_blocking=True))
    elif type(value) in NUMBERS and not (type(value) is int and not -(2**63) <= value < 2**63):
        parts.append((path, "number"))
        # torch.full does not wait for the device
        tensors.append(torch.full((), value, dtype=NUMBERS[type(value)], device=device))
    elif value is None or isinstance(value, (str, int)):
        parts.append((path, "text", repr(value)))
    elif numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        parts.append((path, "tensor" if isinstance(value, numpy.ndarray) else "number"))
        tensors.append(torch.from_numpy(numpy.array(value)).to(device, non_blocking=True))
    else:
        for step, item in _items(value):
            _add(item, path + step, parts, tensors, device)


def _items(value):
    """Returns (path, item) for each item of a container. The path is empty for the only item of a list or tuple."""
    if isinstance(value, dict):
        return [((key if isinstance(key, str) else repr(key),), item) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [((number,) if len(value) > 1 else (), item) for number, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [((field.name,), getattr(value, field.name)) for field in dataclasses.fields(value)]
    raise ContractError(f"The kernel returned a {type(value).__name__}: {WHAT_COUNTS}")


class Part(NamedTuple):
    """One part of a kernel's outputs: a tensor, a number, or a text."""

    path: tuple  # keys of dicts, names of fields, and indices that lead to the part
    kind: str  # tensor, number, or text; None is a text
    text: str = ""

    def __str__(self):
        return self.text if self.kind == "text" else f"a {self.kind}"

    def has_tensor(self):
        return self.kind != "text"


class Form:
    """The names, kinds, and order of all parts of a kernel's outputs."""

    def __init__(self, written, parts):
        self.written, self.parts = written, parts
        self.named = any(isinstance(step, str) for part in parts for step in part.path)

    @classmethod
    def read(cls, text, tensors):
        """Parses the form that a kernel's process sent with this number of tensors. Raises Refused if it is invalid."""
        try:
            written, parts = json.loads(text)
            form = cls(written is True, [Part(tuple(path), *map(str, rest)) for path, *rest in parts])
            if any(type(step) not in (int, str) for part in form.parts for step in part.path):
                raise ValueError
            if len(form._tensors()) != tensors:
                raise ValueError
        except (ValueError, TypeError, RecursionError):
            raise Refused("The process of a kernel described its outputs in a way that cannot be.") from None
        return form

    def comparable(self, other):
        """Returns the parts to compare with another form. If the other kernel is a launch, which writes tensors and
        cannot return text or None, text parts are left out."""
        return [part for part in self.parts if part.has_tensor() or not other.written]

    def name(self, place):
        """Returns the name of a tensor for messages, or an empty text if it has none."""
        return ".".join(map(str, self._tensors()[place].path)) if self.named else ""

    def key(self, place):
        """Returns the name of a tensor for a request's tolerances: its keys and indices, joined by dots. It is empty
        for the only output."""
        return ".".join(map(str, self._tensors()[place].path))

    def label(self, place):
        """Returns the beginning of a sentence about a tensor, or an empty text if there is only one tensor."""
        return f"output {self.name(place) or place}: " if len(self._tensors()) > 1 else ""

    def _tensors(self):
        return [part for part in self.parts if part.has_tensor()]


class Pairing(NamedTuple):
    """Assigns each output of the reference an output of the custom kernel."""

    order: list  # indices of the custom kernel's tensors, in the order of the reference's
    ref: Form
    by_place: bool  # outputs are paired by position although one kernel returned names

    def sort(self, tensors):
        """Returns the custom kernel's tensors in the order of the reference's."""
        return [tensors[place] for place in self.order] if len(tensors) == len(self.order) else tensors


def pair(ref, custom):
    """Returns the pairing of two forms. Raises Mismatch if one kernel returned a part that the other did not return."""
    left, right = ref.comparable(custom), custom.comparable(ref)
    names, theirs = [part.path for part in left], [part.path for part in right]
    by_name = ref.named and custom.named and (set(names) == set(theirs) or not ref.written and not custom.written)
    if by_name:
        if set(names) != set(theirs):
            raise Mismatch(f"Output names differ: ref={_shown(names)}, custom={_shown(theirs)}")
        found = dict(zip(theirs, right))
        right = [found[name] for name in names]
    elif len(left) != len(right) and not all(part.kind == "tensor" for part in (*left, *right)):
        raise Mismatch(f"Output count differs: ref=[{', '.join(map(str, left))}], custom=[{', '.join(map(str, right))}]")
    for number, (mine, other) in enumerate(zip(left, right)):
        if mine.kind != other.kind or mine.text != other.text:
            name = ".".join(map(str, mine.path)) if ref.named else number
            raise Mismatch(f"Output {name}: the reference returned {mine}, the custom kernel {other}")
    places = {part.path: place for place, part in enumerate(part for part in custom.parts if part.has_tensor())}
    order = [places[part.path] for part in right if part.has_tensor()]
    return Pairing(order, ref, not by_name and any(form.named and not form.written for form in (ref, custom)))


def _shown(paths):
    return "[" + ", ".join(sorted(".".join(map(str, path)) for path in paths)) + "]"
