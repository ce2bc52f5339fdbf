"""IOContractBuilder, which builds a contract by chained calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, List, Optional

from .kernels import ArgSpec, IOContract, Scalar
from .launch import LaunchConfig, LaunchDim, Size
from .tensorspec import TensorSpec


class IOContractBuilder:
    """Builds an IOContract; arguments come in the order of the calls, and every call returns the builder.

    Grid and block sizes may be expressions over the int arguments: set_grid("cdiv(n, 256)").
    A call with an invalid value raises ValueError.
    """

    def __init__(self) -> None:
        self.args: List[ArgSpec] = []
        self.launch_config: Optional[LaunchConfig] = None

    def add_input_tensor(self, name: str, tensor_spec: TensorSpec) -> "IOContractBuilder":
        """Adds a tensor that the kernel reads."""
        return self._add(ArgSpec(name, "tensor", tensor_spec=tensor_spec))

    def add_output_tensor(self, name: str, shape: List[int], dtype: str = "float32") -> "IOContractBuilder":
        """Adds a tensor that the kernel writes; its content before is undefined."""
        return self._add(ArgSpec(name, "tensor", tensor_spec=TensorSpec(shape, dtype), role="output"))

    def add_inout_tensor(self, name: str, tensor_spec: TensorSpec) -> "IOContractBuilder":
        """Adds a tensor that the kernel changes; it is restored before every call."""
        return self._add(ArgSpec(name, "tensor", tensor_spec=tensor_spec, role="inout"))

    def add_scalar(
        self, name: str, type: Optional[str] = None, value: Optional[Scalar] = None, *, scalar_type: Optional[str] = None
    ) -> "IOContractBuilder":
        """Adds a scalar of type int, float, str or bool. scalar_type is an alias of type."""
        return self._add(ArgSpec(name, type or scalar_type or "", value=value))

    def add_meta_param(self, name: str, value: int) -> "IOContractBuilder":
        """Adds a compile-time parameter (tl.constexpr) of a Triton kernel, bound by its name."""
        return self._add(ArgSpec(name, "int", value=value, is_meta=True))

    def set_launch_config(self, launch_config: LaunchConfig) -> "IOContractBuilder":
        """Sets all launch sizes at once. Later setters change a copy of the given object."""
        self.launch_config = launch_config
        return self

    def set_grid(self, x: Size, y: Size = 1, z: Size = 1) -> "IOContractBuilder":
        """Sets the number of blocks (triton: programs)."""
        return self._launch(grid=LaunchDim(x, y, z))

    def set_block(self, x: Size, y: Size = 1, z: Size = 1) -> "IOContractBuilder":
        """Sets the threads of a block; cuda only."""
        return self._launch(block=LaunchDim(x, y, z))

    def set_num_warps(self, num_warps: int) -> "IOContractBuilder":
        """Sets the warps of a program; triton only."""
        return self._launch(num_warps=num_warps)

    def set_num_stages(self, num_stages: int) -> "IOContractBuilder":
        """Sets the depth of the software pipeline; triton only."""
        return self._launch(num_stages=num_stages)

    def set_shared_mem(self, shared_mem: int) -> "IOContractBuilder":
        """Sets the bytes of dynamic shared memory; cuda only."""
        return self._launch(shared_mem=shared_mem)

    def build(self) -> IOContract:
        """Returns the contract. You can continue with the builder; built contracts do not change."""
        return IOContract(args=list(self.args), launch=self.launch_config)

    def _add(self, arg: ArgSpec) -> "IOContractBuilder":
        self.args.append(arg)
        return self

    def _launch(self, **sizes: Any) -> "IOContractBuilder":
        self.launch_config = replace(self.launch_config or LaunchConfig(), **sizes)
        return self
