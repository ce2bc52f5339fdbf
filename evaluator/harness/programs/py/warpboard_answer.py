"""Passes answers from the runner to the judge: NumPy arrays, torch tensors, numbers, text, None, and tuples, lists,
dicts, and data classes of them. Subclasses of tuple, list, and dict become the plain types, except named tuples of the
task or of torch. The runner describes values in JSON, with offsets of arrays in a shared region; the judge checks all
of it."""

from __future__ import annotations

import json
import math
import sys

from warpboard_layout import dense, reach, resolved
from warpboard_limits import MOST_WAITING_PARTS
from warpboard_wire import ANSWER_ROOM, CUDA, HOST, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from warpboard_runner import Regions

_PLAIN = (bool, int, float, str)
_DEEPEST, _MOST_ITEMS = 32, 4096

_MOST_TEXT = 300


class BadAnswer(Exception):
    """The answer has a wrong type; the message explains it."""


class NoRoom(Exception):
    """The answers' region is too small. The argument is the number of bytes that the answer needs."""


# From here on: functions for the runner.


def describe(value: Any, regions: Regions) -> bytes:
    """Returns the answer's description, as bytes for the page. It copies arrays that are not in a shared region into
    the answers' region."""
    try:
        text = b"A" + json.dumps(_describe(value, regions)).encode()
    except BadAnswer as bad:
        text = b"B" + str(bad).encode()[:_MOST_TEXT]
    except NoRoom as need:
        return b"N" + need.args[0].to_bytes(8, "little")
    if len(text) > ANSWER_ROOM:
        return b"B" + b"custom_kernel returned an answer of more parts than can be handed over"
    return text


def is_placed(value: Any, regions: Regions) -> bool:
    """Reports whether the answer consists only of device tensors in the shared regions, or tuples and lists of them, so
    that describe copies nothing."""
    if isinstance(value, (tuple, list)):
        return all(is_placed(item, regions) for item in value)
    return (
        type(value) is sys.modules["torch"].Tensor and value.is_cuda and value.is_contiguous() and not value.is_conj() and not value.is_neg()
        and _place(regions, CUDA, value.data_ptr(), value.nbytes, value.nbytes) is not None
    )


def _describe(value, regions):
    kind = type(value)
    if value is None or kind in _PLAIN:
        return ["plain", value]
    if isinstance(value, tuple):
        items = [_describe(item, regions) for item in value]
        return ["tuple", items] if kind is tuple else ["named", kind.__name__, items]
    if isinstance(value, list):
        return ["list", [_describe(item, regions) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[_describe(key, regions), _describe(item, regions)] for key, item in value.items()]]
    if hasattr(kind, "__dataclass_fields__"):
        return ["class", kind.__name__, [[name, _describe(getattr(value, name), regions)] for name in _fields(kind)]]
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and (kind is numpy.ndarray or isinstance(value, numpy.generic)) and value.dtype.kind in "biufcSUmM":
        return _describe_array(numpy, value, kind, regions)
    if torch is not None and kind in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided and not value.is_quantized:
        return _describe_tensor(resolved(value), regions)
    raise BadAnswer(
        f"custom_kernel returned a {kind.__module__}.{kind.__qualname__}: it must return NumPy arrays, torch tensors, "
        "numbers, or tuples, lists, dicts and data classes of them"
    )


def _describe_array(numpy, value, kind, regions):
    name = "array" if kind is numpy.ndarray else "scalar"
    if name == "array" and all(stride >= 0 and stride % value.itemsize == 0 for stride in value.strides):
        strides = [stride // value.itemsize for stride in value.strides]
        span = reach(value.shape, strides) * value.itemsize
        place = _place(regions, HOST, value.__array_interface__["data"][0], span, value.nbytes)
        if place is not None:
            return [name, value.dtype.str, value.shape, strides, *place]
    region = regions.answers[HOST]
    offset = region.take(value.nbytes)
    numpy.ndarray(value.shape, value.dtype, region.memory, offset)[...] = value
    return [name, value.dtype.str, value.shape, None, "answers", offset]


def _describe_tensor(value, regions):
    kind = CUDA if value.is_cuda else HOST
    described = ["tensor", kind, str(value.dtype).removeprefix("torch."), tuple(value.shape)]
    size = value.numel() * value.element_size()
    place = _place(regions, kind, value.data_ptr(), reach(value.shape, value.stride()) * value.element_size(), size)
    if place is not None:
        return [*described, value.stride(), *place]
    region = regions.answers[kind]
    offset = region.take(size)
    if size:
        region.bytes[offset : offset + size].view(value.dtype).copy_(value.reshape(-1))
    return [*described, None, "answers", offset]


def _place(regions, kind, address, span, dense_bytes):
    """Returns the shared region that has this memory, and the offset there: ("inputs" or "answers", offset). Returns
    None for other memory, and for arrays with large gaps or overlaps, which must be copied."""
    for name, region in (("answers", regions.answers.get(kind)), ("inputs", regions.inputs.get(kind))):
        inside = region is not None and 0 <= address - region.address and address - region.address + span <= region.size
        if span and inside and similar_size(span, dense_bytes):
            return name, address - region.address
    return None


def similar_size(span: int, dense_bytes: int) -> bool:
    """Reports whether an array that spans this many bytes of memory has about as many bytes of elements. The judge
    accepts only such arrays: others have large gaps, or elements that share memory."""
    return span <= 2 * dense_bytes and dense_bytes <= 2 * span


# From here on: functions for the judge.


class Part:
    """Part is an array or tensor of an answer: its checked region and offset, and its type, shape, and strides. Strides
    count elements; size is the number of bytes from the first to the last element."""

    def __init__(self, name: str, kind: int, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], role: str,
                 offset: int, size: int) -> None:
        self.name, self.kind, self.dtype, self.shape, self.strides = name, kind, dtype, shape, strides
        self.role, self.offset, self.size = role, offset, size


def read(text: bytes, sizes: dict[tuple[str, int], int]) -> tuple[list[Any], list[Part]]:
    """Parses and checks a description. Returns (tree, parts): the answer's structure, and its arrays. sizes has the
    size in bytes of the region of each (role, kind). Raises BadAnswer, NoRoom, or Refused."""
    if text[:1] == b"B":
        raise BadAnswer(_printable(text[1 : 1 + _MOST_TEXT].decode("utf-8", "replace")))
    if text[:1] == b"N" and len(text) == 9:
        raise NoRoom(int.from_bytes(text[1:], "little"))
    parts: list[Part] = []
    try:
        if text[:1] != b"A":
            raise ValueError("unknown kind of description")
        tree = _read(json.loads(text[1:]), sizes, parts, 0)
        if sum(part.size for part in parts) > 2 * sum(sizes.values()):
            raise ValueError("it is larger than the shared memory")
    except BadAnswer:
        raise
    except Exception as error:  # JSON, NumPy, and torch raise different errors for a forged description
        raise Refused(f"The runner described its answer in a way that cannot be: {_printable(str(error))[:200]}.") from None
    return tree, parts


def _printable(text):
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _read(described, sizes, parts, depth):
    kind, *rest = described
    if depth > _DEEPEST or len(parts) > _MOST_ITEMS:
        raise ValueError("too deep or too many parts")
    if kind == "plain":
        (value,) = rest
        if value is not None and type(value) not in _PLAIN:
            raise ValueError("not a plain value")
        return ["plain", value]
    if kind in ("tuple", "list"):
        (items,) = rest
        return [kind, [_read(item, sizes, parts, depth + 1) for item in items]]
    if kind == "dict":
        (items,) = rest
        return [kind, [[_read(key, sizes, parts, depth + 1), _read(item, sizes, parts, depth + 1)] for key, item in items]]
    if kind == "named":
        name, items = rest
        return [kind, str(name), [_read(item, sizes, parts, depth + 1) for item in items]]
    if kind == "class":
        name, fields = rest
        if _task_class(name) is None:
            raise BadAnswer(f"custom_kernel returned an instance of {_printable(name)[:_MOST_TEXT]}, which is no data class of the task: "
                            "return one of the task's own, or a tuple or dict")
        if [field for field, _ in fields] != _fields(_task_class(name)):
            raise ValueError("not the fields of its class")
        return [kind, name, [[field, _read(item, sizes, parts, depth + 1)] for field, item in fields]]
    if kind in ("array", "scalar"):
        return _read_part(kind, HOST, *_array_type(rest[0]), rest[1:], sizes, parts)
    if kind == "tensor":
        return _read_part(kind, {0: HOST, 1: CUDA}[rest[0]], *_tensor_type(rest[1]), rest[2:], sizes, parts)
    raise ValueError("an unknown kind of part")


def _array_type(text: Any) -> tuple[Any, int]:
    import numpy

    if type(text) is not str or len(text) > 16:
        raise ValueError("no type of an array")
    dtype = numpy.dtype(text)
    if dtype.kind not in "biufcSUmM":
        raise ValueError(f"arrays of {dtype} are not handed over")
    return dtype, dtype.itemsize


def _tensor_type(text: str) -> tuple[Any, int]:
    import torch

    dtype = getattr(torch, text)
    if not isinstance(dtype, torch.dtype):
        raise ValueError("no type of a tensor")
    return dtype, torch.empty(0, dtype=dtype).element_size()


def _read_part(name, kind, dtype, item, rest, sizes, parts):
    shape, strides, role, offset = rest
    if strides is None:
        strides = dense(shape)
    numbers = [*shape, *strides, offset]
    if len(shape) > 32 or len(shape) != len(strides) or any(type(n) is not int or not 0 <= n < 1 << 48 for n in numbers):
        raise ValueError("not a shape")
    size = reach(shape, strides) * item
    if role not in ("inputs", "answers") or offset + size > sizes.get((role, kind), 0) and size > 0:
        raise ValueError("it lies outside of the shared memory")
    if not similar_size(size, math.prod(shape) * item):
        raise ValueError("its items lie too far apart or on top of each other")
    if size > 0 and offset % item:
        raise ValueError("it does not lie at a multiple of its items' size")
    if kind == CUDA and sum(part.kind == CUDA for part in parts) == MOST_WAITING_PARTS:
        raise ValueError(f"more than {MOST_WAITING_PARTS} tensors on the device")
    parts.append(Part(name, kind, dtype, tuple(shape), tuple(strides), role, offset, size))
    return ["part", len(parts) - 1]


def is_plain(tree: list[Any]) -> bool:
    """Reports whether the description has values of the answer itself: a number, a text, or a key of a dict."""
    kind, *rest = tree
    if kind == "plain":
        return rest[0] is not None
    if kind == "part":
        return False
    if kind == "dict":
        return bool(rest[0])
    return any(is_plain(item[1] if kind == "class" else item) for item in rest[-1])


def build(tree: list[Any], values: Sequence[Any]) -> Any:
    """Returns the answer from its structure (see read). values has its arrays and tensors in the order of the parts."""
    kind, *rest = tree
    if kind == "plain":
        return rest[0]
    if kind == "part":
        return values[rest[0]]
    if kind == "dict":
        return {build(key, values): build(item, values) for key, item in rest[0]}
    if kind == "named":
        return _named(rest[0], [build(item, values) for item in rest[1]])
    if kind == "class":
        return _instance(_task_class(rest[0]), {name: build(item, values) for name, item in rest[1]})
    return (tuple if kind == "tuple" else list)(build(item, values) for item in rest[0])


def _task_kinds(name):
    """Returns the classes of this name in the task's modules."""
    kinds = (getattr(sys.modules.get(module), name, None) for module in ("task", "reference"))
    return [kind for kind in kinds if isinstance(kind, type)]


def _named(name, items):
    """Returns a named tuple if the task's modules or torch define one of this name, otherwise a plain tuple."""
    for kind in _task_kinds(name):
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return kind._make(items)
    kind = getattr(getattr(sys.modules.get("torch"), "return_types", None), name, None)
    return kind(items) if isinstance(kind, type) and getattr(kind, "n_fields", -1) == len(items) else tuple(items)


def _task_class(name):
    """Returns the task's data class of this name, or None."""
    return next((kind for kind in _task_kinds(name) if hasattr(kind, "__dataclass_fields__")), None)


def _fields(kind):
    """Returns the names of a data class's fields."""
    return [field.name for field in sys.modules["dataclasses"].fields(kind)]


def _instance(kind, fields):
    """Creates an instance of a data class without calling its code, as pickle does."""
    made = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made
