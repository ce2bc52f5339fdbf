"""Client of Warpboard's evaluation API: compile, check and time one GPU kernel, or compare two.

Standard library only. Start with KernelEvalClient, KernelCode and IOContractBuilder.
"""

from __future__ import annotations

from .builder import IOContractBuilder
from .client import KernelEvalClient
from .errors import EvalConnectionError, EvalError, EvalFailedError, EvalHTTPError, EvalTimeoutError
from .evaluation import Evaluation
from .files import load_from_file, save_to_file, to_json
from .models import (
    ArgSpec, IOContract, KernelCode, KernelType, LaunchConfig, LaunchDim, RuntimeStats, TensorData, TensorInit,
    TensorSpec,
)
from .specs import (
    create_arange_spec, create_full_spec, create_ones_spec, create_randn_spec, create_tensor_spec, create_uniform_spec,
    create_zeros_spec,
)
from .tensors import create_io_contract, tensor_spec
from .version import __version__

__all__ = [
    "KernelEvalClient", "Evaluation",
    "EvalError", "EvalHTTPError", "EvalFailedError", "EvalTimeoutError", "EvalConnectionError",
    "KernelCode", "KernelType", "IOContract", "ArgSpec", "TensorSpec", "TensorInit", "TensorData",
    "LaunchConfig", "LaunchDim", "RuntimeStats",
    "IOContractBuilder", "create_io_contract", "tensor_spec",
    "create_tensor_spec", "create_randn_spec", "create_uniform_spec", "create_zeros_spec", "create_ones_spec",
    "create_full_spec", "create_arange_spec",
    "to_json", "save_to_file", "load_from_file", "__version__",
]
