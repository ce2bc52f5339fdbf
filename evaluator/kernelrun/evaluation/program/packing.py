"""Packs inputs for other processes. Tensors keep their strides, and tensors that share memory still share it.

The process that draws the inputs packs them, and the judge unpacks them on the kernels' device. If tensors share
memory, the judge sends them to a kernel as views of one tensor of bytes.
"""

import functools
from typing import Any, NamedTuple

import torch

from contract import ContractError
from warpboard_layout import describe, reach
from warpboard_wire import Refused

# Kind of the frame that is sent before the first call: a pickled pair of the constructor's arguments and the reason if
# they are missing
INIT = 9
_PLAIN = (bool, int, float, str, type(None))
_DEEPEST = 32


class Memory:
    """The memory of several tensors, in pieces: tensors that overlap are in the same piece."""

    def __init__(self, tensors):
        """A tensor may occur more than once. Tensors without elements have no memory."""
        pieces: list[Any] = []
        self._places = {}  # id of a tensor → (index of its piece, offset in it in bytes)
        spans = sorted((tensor.data_ptr(), -_span(tensor), number) for number, tensor in enumerate(tensors) if tensor.numel())
        for begin, size, number in spans:
            tensor = tensors[number]
            where = tensor.device, begin
            if not pieces or pieces[-1][0][0] != where[0] or begin >= pieces[-1][0][1] + pieces[-1][1]:
                pieces.append([where, 0, tensor, set()])
            piece = pieces[-1]
            piece[1] = max(piece[1], begin - size - piece[0][1])
            piece[3].add(id(tensor))
            self._places[id(tensor)] = len(pieces) - 1, begin - piece[0][1]
        self._pieces = [(first, size) for _, size, first, _ in pieces]
        self.shared = any(len(members) > 1 for *_, members in pieces)

    @functools.cached_property
    def pieces(self):
        return [_bytes_from(*piece) for piece in self._pieces]

    def place(self, tensor):
        """Returns (index of the piece, offset in bytes) of a tensor, or (-1, 0) if it has no elements."""
        return self._places.get(id(tensor), (-1, 0))


def _span(tensor):
    return reach(tensor.shape, tensor.stride()) * tensor.element_size()


def _bytes_from(tensor, size):
    """Returns size bytes of memory, from the tensor's first element on, as a tensor of bytes."""
    first = tensor.as_strided((1,), (1,), tensor.storage_offset()).view(torch.uint8)
    return first.as_strided((size,), (1,), first.storage_offset())


def walk(value, change):
    """Returns a copy of the value in which change() has replaced each tensor in lists, tuples, and dicts. A named
    tuple becomes a tuple."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(walk(item, change) for item in value)
    if isinstance(value, dict):
        return {key: walk(item, change) for key, item in value.items()}
    return value


def tensors_in(value):
    """Returns the tensors in a value, in the order in which walk finds them."""
    found: list[Any] = []
    walk(value, found.append)
    return found


def size(value):
    """Returns the bytes of the tensors in a value."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(value))


def known_early(value):
    """Returns the parts of a value that a kernel gets before the release, in bytes, without the forms of tensors, or
    None if it gets arrays on the host, whose elements are not part of the bytes."""
    description, on_host = describe(walk(value, lambda tensor: tensor.dtype))
    return None if on_host else description


# Functions for the process that draws inputs.


def pack(value, source):
    """Returns [pieces of memory on the host, the value made of plain parts] for the judge. source names the function
    that returned the value, for error messages."""
    plain = {}

    def dense(tensor):
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided or tensor.is_quantized:
            raise ContractError(f"{source} returned a {type(tensor).__name__} of layout {tensor.layout}: tensors must be dense and of torch's own type")
        if id(tensor) not in plain:
            plain[id(tensor)] = tensor, tensor.detach().resolve_conj().resolve_neg()
        return plain[id(tensor)][1]

    value = walk(value, dense)
    memory = Memory(tensors_in(value))
    return [[piece.cpu() for piece in memory.pieces], _packed(value, memory, source)]


def _packed(value, memory, source):
    if isinstance(value, torch.Tensor):
        return ["tensor", *memory.place(value), _name(value.dtype), list(value.shape), list(value.stride())]
    if isinstance(value, (torch.dtype, torch.device)):
        return ["dtype" if isinstance(value, torch.dtype) else "device", _name(value)]
    if isinstance(value, dict):
        return ["dict", [[_packed(part, memory, source) for part in item] for item in value.items()]]
    if isinstance(value, (list, tuple)):
        return ["list" if isinstance(value, list) else "tuple", [_packed(item, memory, source) for item in value]]
    if type(value) in _PLAIN or type(value).__module__ == "numpy":
        return ["plain", value]
    raise ContractError(f"{source} returned a {type(value).__name__}, which cannot be handed to a kernel: it must return tensors, NumPy arrays, numbers, text, "
                        "None, and lists, tuples and dicts of them")


def _name(value):
    return str(value).removeprefix("torch.")


# Functions for the judge.


def unpack(packed, device):
    """Returns the packed value, with all tensors on the device. Parts that were the same tensor become the same
    tensor again."""
    try:
        pieces, described = packed
        moved = [piece.to(device) for piece in pieces]
        return _unpacked(described, moved, {}, device, 0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "out of memory" in str(error):
            raise
        raise Refused(f"The process that draws the inputs described them in a way that cannot be: {error}.") from None


def _unpacked(described, pieces, known, device, depth):
    kind, *rest = described
    if depth > _DEEPEST:
        raise ValueError("they lie too deep in each other")
    if kind == "tensor":
        key = tuple(rest[:3]), tuple(rest[3]), tuple(rest[4])
        if key not in known:
            known[key] = _view(pieces, rest, device)
        return known[key]
    if kind == "plain":
        return rest[0]
    if kind == "dtype":
        return _dtype(rest[0])
    if kind == "device":
        return torch.device(device)
    items = [[_unpacked(part, pieces, known, device, depth + 1) for part in item] if kind == "dict" else _unpacked(item, pieces, known, device, depth + 1)
             for item in rest[0]]
    return {"dict": dict, "list": list, "tuple": tuple}[kind](items)


def _dtype(name):
    dtype = getattr(torch, name)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"{name} is no dtype")
    return dtype


def _view(pieces, described, device):
    piece, offset, dtype, shape, strides = described
    dtype = _dtype(dtype)
    if piece < 0:
        return torch.empty_strided(shape, strides, dtype=dtype, device=device)
    item = torch.empty((), dtype=dtype).element_size()
    part = pieces[piece][offset:]
    return part[: len(part) // item * item].view(dtype).as_strided(shape, strides)


class View(NamedTuple):
    """Describes a tensor that shares memory with another one, as it is sent to a kernel."""

    piece: torch.Tensor
    offset: int
    dtype: str
    shape: tuple
    strides: tuple


def share(values):
    """Returns the values with a View for each tensor, if some of them share memory; else None."""
    memory = Memory(tensors_in(values))
    if not memory.shared:
        return None

    def view(tensor):
        piece, offset = memory.place(tensor)
        return View(memory.pieces[piece], offset, _name(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride())) if piece >= 0 else tensor

    return walk(values, view)


# Functions for the kernel's process.


def join(values):
    """Returns the values with a tensor for each View that share() made."""
    if isinstance(values, View):
        return _view([values.piece], (0, values.offset, *values[2:]), values.piece.device)
    if type(values) in (list, tuple):
        return type(values)(join(item) for item in values)
    if type(values) is dict:
        return {key: join(item) for key, item in values.items()}
    return values
