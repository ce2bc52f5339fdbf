"""Passes inputs from the judge to the runner: everything but the contents of arrays and tensors is pickled. The
contents are in shared regions, at offsets that the pickle has.

Only the judge pickles, and only the runner unpickles.
"""

from __future__ import annotations

import io
import pickle
import sys

from warpboard_wire import CUDA, HOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

ALIGNMENT = 512  # alignment of arrays in bytes, at least that of cudaMalloc


class NotPassable(Exception):
    """A part of an input cannot be passed to the kernel's process; the message ends a sentence."""


class Leaf:
    """Leaf is an array or tensor of an input: its contents, and its offset in the region of its kind."""

    def __init__(self, value: Any, kind: int, key: tuple[Any, ...], span: int) -> None:
        self.value = value  # the array or tensor in the judge's memory
        self.kind = kind  # HOST or CUDA
        # describes the runner's view: type, dtype, shape, strides in elements, parameter?, requires_grad?
        self.key = key
        self.span = span  # bytes from the first to the last element
        self.offset = 0


class _Pickler(pickle.Pickler):
    """_Pickler replaces arrays and tensors by their regions and offsets. An object that occurs twice is stored once."""

    def __init__(self, file, leaves):
        super().__init__(file, protocol=5)
        self._leaves = leaves
        self._ends = {HOST: 0, CUDA: 0}
        self._seen = {}
        self._tensor = getattr(sys.modules.get("torch"), "Tensor", ())
        self._array = getattr(sys.modules.get("numpy"), "ndarray", ())

    def persistent_id(self, value):
        if isinstance(value, self._tensor):
            make = _tensor_leaf
        elif type(value) is self._array:
            make = _array_leaf
        else:
            return None
        if id(value) in self._seen:
            return self._seen[id(value)]
        leaf = make(value)
        if leaf is None:
            return None
        leaf.offset = self._ends[leaf.kind]
        self._ends[leaf.kind] += (leaf.span + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self._leaves.append(leaf)
        self._seen[id(value)] = identity = (leaf.kind, leaf.offset, leaf.span, *leaf.key)
        return identity


def _tensor_leaf(tensor):
    torch = sys.modules["torch"]
    parameter = type(tensor) is torch.nn.Parameter
    if (type(tensor) is not torch.Tensor and not parameter) or tensor.layout != torch.strided or tensor.is_quantized:
        return None  # pickled by its class, and the tensors in it come here again
    if tensor.device.type not in ("cpu", "cuda"):
        return None
    plain = resolved(tensor)
    shape, strides = tuple(plain.shape), tuple(plain.stride())
    span = reach(shape, strides) * plain.element_size()
    key = "tensor", str(plain.dtype).removeprefix("torch."), shape, strides, parameter, tensor.requires_grad
    return Leaf(plain, CUDA if tensor.device.type == "cuda" else HOST, key, span)


def resolved(tensor: Any) -> Any:
    """Returns the tensor without a gradient, a pending conjugation, or a pending negation."""
    plain = tensor.detach() if tensor.requires_grad else tensor
    return plain.resolve_conj().resolve_neg() if plain.is_conj() or plain.is_neg() else plain


def _array_leaf(array):
    numpy = sys.modules["numpy"]
    if array.dtype.kind not in "biufcSUmM":
        return None
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        array = numpy.array(array, order="C")
    strides = tuple(stride // array.itemsize for stride in array.strides)
    key = "array", array.dtype.str, tuple(array.shape), strides, False, False
    return Leaf(array, HOST, key, reach(array.shape, strides) * array.itemsize)


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Returns the number of elements from the first to the last one of a strided array, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides, in elements, of an array of this shape without gaps."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def describe(data: Any) -> tuple[bytes, list[Leaf]]:
    """Returns (description, leaves) of an input."""
    leaves: list[Leaf]
    leaves, file = [], io.BytesIO()
    try:
        _Pickler(file, leaves).dump(data)
    except Exception as error:  # any error, because a class may define how it is pickled
        raise NotPassable(f"something that cannot be handed over to the kernel's process: {str(error)[:300]}. Arrays, tensors, modules, numbers, "
                          "texts, and instances of the task's classes can be, and no lambdas, local classes, or open files.") from error
    return file.getvalue(), leaves


def sizes(leaves: Iterable[Leaf]) -> dict[int, int]:
    """Returns, by kind, the bytes that the leaves need in the region of inputs."""
    ends = {HOST: 0, CUDA: 0}
    for leaf in leaves:
        ends[leaf.kind] = max(ends[leaf.kind], leaf.offset + leaf.span)
    return ends


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, view):
        super().__init__(file)
        self._view = view

    def persistent_load(self, identity):
        kind, offset, span, *key = identity
        return self._view(kind, offset, span, key)


def restore(description: bytes | memoryview, view: Callable[[int, int, int, list[Any]], Any]) -> Any:
    """Returns the runner's argument from its description. view(kind, offset, span, key) must return an array or tensor
    of it."""
    return _Unpickler(io.BytesIO(description), view).load()


def array_view(memory: Any, offset: int, span: int, key: Sequence[Any]) -> Any:
    """Returns the array or host tensor that key describes, in memory from offset on."""
    kind, dtype, shape, strides, *_ = key
    if kind == "tensor":
        import torch  # imported here, because a runner may not have loaded it

        if span == 0:
            return torch.empty_strided(shape, strides, dtype=getattr(torch, dtype))
        flat = torch.frombuffer(memory, dtype=torch.uint8, count=span, offset=offset)
        return flat.view(getattr(torch, dtype)).as_strided(shape, strides)
    import numpy

    dtype = numpy.dtype(dtype)
    if span == 0:
        return numpy.empty(shape, dtype)
    return numpy.ndarray(shape, dtype, memory, offset, tuple(s * dtype.itemsize for s in strides))


def tensor_view(region: Any, offset: int, span: int, key: Sequence[Any]) -> Any:
    """Returns the tensor that key describes, as a view of region, which is a tensor of bytes on the device."""
    torch = sys.modules["torch"]
    _, dtype, shape, strides, *_ = key
    dtype = getattr(torch, dtype)
    if span == 0:
        return torch.empty_strided(shape, strides, dtype=dtype, device=region.device)
    return region[offset : offset + span].view(dtype).as_strided(shape, strides)


def as_parameter(tensor: Any, key: Sequence[Any]) -> Any:
    """Returns the tensor as the task made it: as a parameter, or with requires_grad, if key requires it."""
    *_, parameter, wants_gradient = key
    if parameter:
        return sys.modules["torch"].nn.Parameter(tensor, requires_grad=wants_gradient)
    return tensor.requires_grad_() if wants_gradient else tensor


def flat_bytes(tensor: Any, span: int) -> Any:
    """Returns a tensor's memory from its first to its last element, as bytes."""
    torch = sys.modules["torch"]
    count = span // tensor.element_size()
    return tensor.as_strided((count,), (1,), tensor.storage_offset()).view(torch.uint8)


def write_host(memory: memoryview | bytearray, leaf: Leaf) -> None:
    """Writes a leaf's contents into host memory."""
    if leaf.span == 0:
        return
    numpy = sys.modules["numpy"]
    target = numpy.frombuffer(memory, "uint8", leaf.span, leaf.offset)
    if leaf.key[0] == "tensor":
        target[:] = flat_bytes(leaf.value, leaf.span).numpy()
        return
    count = leaf.span // leaf.value.itemsize
    flat = numpy.lib.stride_tricks.as_strided(leaf.value, (count,), (leaf.value.itemsize,))
    target[:] = flat.view("uint8")
