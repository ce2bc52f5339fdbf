"""The content of a tensor argument: TensorSpec with a TensorInit (the server fills it) or TensorData (its bytes)."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from dataclasses import dataclass, field
from typing import List, Optional

from .dtypes import ITEM_BYTES, dtype_name
from .model import Model, choice, extents, integer, real

INIT_KINDS = ("randn", "uniform", "zeros", "ones", "full", "arange")
_PARAMETERS = ("mean", "std", "low", "high", "fill_value", "start", "step")


@dataclass
class TensorInit(Model):
    """The values with which the server fills a tensor. Parameters that do not belong to kind are ignored."""

    kind: str = "randn"
    #: For randn and uniform. Tensors with the same seed, shape, dtype and init are equal to each other in every trial.
    #: Only the first trial uses the seed itself; later ones use secret seeds derived from it. None: each argument has a
    #: separate seed.
    seed: Optional[int] = None
    mean: Optional[float] = None  # for randn; default 0
    std: Optional[float] = None  # for randn; default 1
    low: Optional[float] = None  # for uniform; default 0
    high: Optional[float] = None  # for uniform; default 1, or 100 for integers, which include it
    fill_value: Optional[float] = None  # for full; default 0
    start: Optional[float] = None  # for arange; default 0
    step: Optional[float] = None  # for arange; default 1

    def check(self) -> None:
        choice(self.kind, "TensorInit.kind", INIT_KINDS)
        self.seed = integer(self.seed, "TensorInit.seed")
        for name in _PARAMETERS:
            setattr(self, name, real(getattr(self, name), f"TensorInit.{name}"))


@dataclass
class TensorData(Model):
    """The bytes of a tensor: little-endian, in C order, compressed if compress is "zlib", and then in base64."""

    data_b64: str
    dtype: str = "float32"
    shape: List[int] = field(default_factory=list)
    compress: str = "none"

    def check(self) -> None:
        if not isinstance(self.data_b64, str):
            raise ValueError("TensorData.data_b64: base64 text is needed; TensorData.from_bytes makes it of bytes")
        self.dtype = dtype_name(self.dtype)
        self.shape = extents(self.shape, "TensorData.shape")
        choice(self.compress, "TensorData.compress", ("none", "zlib"))

    @classmethod
    def from_bytes(cls, raw: bytes, dtype: str, shape: List[int], compress: str = "zlib") -> "TensorData":
        """Returns the data for raw little-endian bytes. Raises ValueError if their number does not match the shape."""
        name, dims = dtype_name(dtype), extents(shape, "shape")
        needed = math.prod(dims) * ITEM_BYTES[name]
        if len(raw) != needed:
            raise ValueError(f"{len(raw)} bytes given, but shape {dims} of {name} needs {needed}")
        packed = zlib.compress(raw) if compress == "zlib" else raw
        return cls(base64.b64encode(packed).decode("ascii"), name, dims, compress)

    def to_bytes(self) -> bytes:
        """Returns the raw bytes of the tensor. Raises ValueError if data_b64 cannot be decoded."""
        try:
            packed = base64.b64decode(self.data_b64, validate=True)
            return zlib.decompress(packed) if self.compress == "zlib" else packed
        except (binascii.Error, zlib.error) as error:
            raise ValueError(f"TensorData.data_b64 cannot be decoded: {error}") from error


@dataclass
class TensorSpec(Model):
    """A tensor's shape and content. data has precedence over init. Without both the content is undefined, as for
    outputs."""

    shape: List[int] = field(default_factory=list)  # an empty list means a single element
    dtype: str = "float32"
    init: Optional[TensorInit] = None
    data: Optional[TensorData] = None

    PARTS = {"init": TensorInit, "data": TensorData}

    def check(self) -> None:
        self.shape = extents(self.shape, "TensorSpec.shape")
        self.dtype = dtype_name(self.dtype)
