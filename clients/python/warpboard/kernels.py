"""A kernel and its arguments: KernelCode, IOContract and ArgSpec."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Dict, List, Optional, Union

from .launch import LaunchConfig
from .model import Model, as_model, choice, real, required
from .tensorspec import TensorSpec

Scalar = Union[int, float, str, bool]


class KernelType(str, Enum):
    """The kind of a kernel's source."""

    TORCH = "torch"
    TORCH_CUDA = "torch_cuda"
    TRITON = "triton"
    CUDA = "cuda"
    MULTI_KERNEL = "multi_kernel"


@dataclass
class ArgSpec(Model):
    """One argument: a tensor with its tensor_spec, or a scalar with its value."""

    name: str
    type: str  # "tensor", "int", "float", "str" or "bool"
    value: Optional[Scalar] = None
    tensor_spec: Optional[TensorSpec] = None
    role: str = "input"  # "input", "output" or "inout"
    is_meta: bool = False  # a compile-time parameter of a Triton kernel, bound by name

    PARTS = {"tensor_spec": TensorSpec}

    def check(self) -> None:
        choice(self.type, f"Argument '{self.name}': type", ("tensor", "int", "float", "str", "bool"))
        choice(self.role, f"Argument '{self.name}': role", ("input", "output", "inout"))
        if self.type == "tensor":
            if self.tensor_spec is None:
                raise ValueError(f"Tensor argument '{self.name}' requires tensor_spec")
            return
        if self.value is None:
            raise ValueError(f"Scalar argument '{self.name}' requires value")
        self.value = plain_scalar(self.value, f"Scalar argument '{self.name}'")


@dataclass
class IOContract(Model):
    """The arguments of a kernel. They are bound by position, except those with is_meta, which are bound by name."""

    args: List[ArgSpec]
    launch: Optional[LaunchConfig] = None

    PARTS = {"launch": LaunchConfig}

    def check(self) -> None:
        if not isinstance(self.args, (list, tuple)):
            raise ValueError("IOContract.args: a list of ArgSpec is needed")
        self.args = [as_model(ArgSpec, arg, f"IOContract.args[{i}]") for i, arg in enumerate(self.args)]


@dataclass
class KernelCode(Model):
    """The source of one kernel.

    metadata, by type: function_name, class_name, method_name (torch); kernel_name (triton, cuda);
    compiler_options, backend, name_expressions (cuda); entry_point (multi_kernel). Other keys are kept.
    """

    source_code: str
    kernel_type: KernelType
    io: Optional[IOContract] = None
    metadata: Optional[Dict[str, Any]] = None
    source_files: Optional[Dict[str, str]] = None  # further files: their texts by name

    PARTS = {"io": IOContract}
    STRICT = True

    def check(self) -> None:
        if not isinstance(self.source_code, str):
            raise ValueError("KernelCode.source_code: text is needed")
        if not isinstance(self.kernel_type, KernelType):
            choice(self.kernel_type, "KernelCode.kernel_type", tuple(t.value for t in KernelType))
            self.kernel_type = KernelType(self.kernel_type)
        if self.metadata is not None and not isinstance(self.metadata, dict):
            raise ValueError("KernelCode.metadata: a dict is needed")


def plain_scalar(value: Any, where: str) -> Scalar:
    """Returns value as a Python int, float, str or bool; value may be a numpy scalar. Raises ValueError for other
    types."""
    if hasattr(value, "item") and not hasattr(value, "__setitem__"):
        value = value.item()
    if isinstance(value, float):
        return required(real(value, where), where)
    if not isinstance(value, (int, str)):
        raise ValueError(f"{where}: {value!r} is not an int, float, str or bool")
    return value
