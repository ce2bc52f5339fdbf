"""Contracts from live values: numpy arrays, torch tensors, anything with the buffer protocol, scalars.

Neither numpy nor torch is imported: the type of a value is detected by its attributes.
"""

from __future__ import annotations

import sys
from typing import Any, Collection, List, Optional, Sequence, Tuple

from .dtypes import ITEM_BYTES, dtype_name
from .kernels import ArgSpec, IOContract, plain_scalar
from .launch import LaunchConfig
from .tensorspec import TensorData, TensorSpec

# Type codes of the struct module for native numbers. The buffer itself has their width.
_KINDS = {"f": "float", "d": "float", "e": "float", "?": "bool"}
_KINDS.update({code: "int" for code in "bhilqn"})
_KINDS.update({code: "uint" for code in "BHILQN"})


def tensor_spec(
    value: Any, dtype: Optional[str] = None, shape: Optional[Sequence[int]] = None, compress: str = "zlib"
) -> TensorSpec:
    """Returns a TensorSpec with the elements of a value.

    value is a torch tensor, a numpy array, or a buffer such as bytes or array.array. dtype and shape
    reinterpret its bytes. They are useful for bytes, which otherwise become a tensor of uint8 with one dimension.
    Raises ValueError if the API has no such dtype or the bytes do not fill the shape, TypeError if value has no
    elements.
    """
    raw, own_dtype, own_shape = _elements(value)
    name = dtype_name(own_dtype if dtype is None else dtype)
    if shape is None:
        shape = own_shape if dtype is None else [len(raw) // ITEM_BYTES[name]]
    return TensorSpec(list(shape), name, data=TensorData.from_bytes(raw, name, list(shape), compress))


def create_io_contract(
    inputs: Sequence[Any],
    output_indices: Optional[Collection[int]] = None,
    inout_indices: Optional[Collection[int]] = None,
    launch_config: Optional[LaunchConfig] = None,
    arg_names: Optional[Sequence[str]] = None,
) -> IOContract:
    """Returns the contract that calls a kernel with exactly these values.

    Tensors are sent with their elements, also those at output_indices, because a kernel may add to them. A TensorSpec
    among the inputs is used unchanged. Names are arg_0, arg_1, … unless given. Raises ValueError if the number of names
    differs from that of inputs, or if an index refers to no tensor.
    """
    names = [f"arg_{i}" for i in range(len(inputs))] if arg_names is None else list(arg_names)
    if len(names) != len(inputs):
        raise ValueError(f"{len(names)} names for {len(inputs)} inputs")
    roles = {**dict.fromkeys(inout_indices or (), "inout"), **dict.fromkeys(output_indices or (), "output")}
    args = [_argument(name, value, roles.pop(i, "input")) for i, (name, value) in enumerate(zip(names, inputs))]
    if roles:
        raise ValueError(f"indices {sorted(roles)} are beyond the {len(inputs)} inputs")
    return IOContract(args=args, launch=launch_config)


def _argument(name: str, value: Any, role: str) -> ArgSpec:
    if isinstance(value, TensorSpec):
        return ArgSpec(name, "tensor", tensor_spec=value, role=role)
    scalar = isinstance(value, (bool, int, float, str)) or (hasattr(value, "item") and not hasattr(value, "__setitem__"))
    if not scalar:
        return ArgSpec(name, "tensor", tensor_spec=tensor_spec(value), role=role)
    if role != "input":
        raise ValueError(f"'{name}' is a scalar and so cannot be an {role}")
    plain = plain_scalar(value, f"Scalar argument '{name}'")
    return ArgSpec(name, type(plain).__name__, value=plain)


def _elements(value: Any) -> Tuple[bytes, Any, List[int]]:
    """Returns (bytes, dtype, shape) of a value. The bytes are little-endian and in C order."""
    if hasattr(value, "detach"):  # a torch tensor; converted as bytes, because numpy has no bfloat16 and no fp8
        flat = value.detach().cpu().contiguous().reshape(-1)
        return flat.view(sys.modules["torch"].uint8).numpy().tobytes(), value.dtype, list(value.shape)
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        if getattr(value.dtype, "byteorder", "=") == ">":
            value = value.astype(value.dtype.newbyteorder("<"))
        return value.tobytes(), value.dtype, list(value.shape)
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"{type(value).__name__} is not a tensor, array, buffer or scalar") from None
    kind = _KINDS.get(view.format)
    if kind is None:
        raise ValueError(f"a buffer of format {view.format!r} has no dtype in the API; give bytes and a dtype")
    name = "bool" if kind == "bool" else f"{kind}{8 * view.itemsize}"
    return view.tobytes(), name, list(view.shape or ())
