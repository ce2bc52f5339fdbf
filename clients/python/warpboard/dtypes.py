"""The element types of the evaluation API."""

from __future__ import annotations

from typing import Any

#: Bytes of one element, by the name that the API uses.
ITEM_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
    "complex64": 8, "complex128": 16,
}


def dtype_name(dtype: Any) -> str:
    """Returns the API's name of a dtype: of "float32", a torch.dtype, a numpy dtype or a numpy scalar class.

    Raises ValueError when the API has no such type.
    """
    if isinstance(dtype, type):
        dtype = dtype.__name__
    name = str(getattr(dtype, "name", dtype))
    name = name[len("torch."):] if name.startswith("torch.") else name
    if name not in ITEM_BYTES:
        raise ValueError(f"dtype {name!r} is not one of {', '.join(ITEM_BYTES)}")
    return name
