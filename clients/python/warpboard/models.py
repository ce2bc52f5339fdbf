"""The models of the evaluation API, as plain dataclasses with the API's field names."""

from __future__ import annotations

from .kernels import ArgSpec, IOContract, KernelCode, KernelType
from .launch import LaunchConfig, LaunchDim
from .stats import RuntimeStats
from .tensorspec import TensorData, TensorInit, TensorSpec

__all__ = [
    "KernelType", "TensorData", "TensorInit", "TensorSpec", "LaunchDim", "LaunchConfig",
    "ArgSpec", "IOContract", "KernelCode", "RuntimeStats",
]
