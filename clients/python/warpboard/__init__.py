"""Client of Warpboard: submissions, boards and profiles, and evaluations of single GPU kernels.

Standard library only. Start with Warpboard, or AsyncWarpboard for asyncio. Kernels without a task are evaluated by
Warpboard.kernels, a KernelEvalClient, with KernelCode and IOContractBuilder.
"""

from __future__ import annotations

from .aio import AsyncWarpboard
from .answers import Board, Device, Entry, Event, Failure, Run, SourceFile, Submission, Task, TaskSummary, User
from .builder import IOContractBuilder
from .client import KernelEvalClient
from .errors import (
    EvalConnectionError, EvalError, EvalFailedError, EvalHTTPError, EvalTimeoutError, RefusedError, SiteConnectionError,
    SiteTimeoutError, WarpboardError,
)
from .evaluation import Evaluation
from .files import load_from_file, save_to_file, to_json
from .models import (
    ArgSpec, IOContract, KernelCode, KernelType, LaunchConfig, LaunchDim, RuntimeStats, TensorData, TensorInit,
    TensorSpec,
)
from .profiles import ComparedCase, Comparison, Profile, Ratio
from .site import Warpboard
from .specs import (
    create_arange_spec, create_full_spec, create_ones_spec, create_randn_spec, create_tensor_spec, create_uniform_spec,
    create_zeros_spec,
)
from .table import Table
from .tensors import create_io_contract, tensor_spec
from .version import __version__

__all__ = [
    "Warpboard", "AsyncWarpboard",
    "WarpboardError", "RefusedError", "SiteConnectionError", "SiteTimeoutError",
    "Board", "ComparedCase", "Comparison", "Device", "Entry", "Event", "Failure", "Profile", "Ratio", "Run", "SourceFile",
    "Submission", "Table", "Task", "TaskSummary", "User",
    "KernelEvalClient", "Evaluation",
    "EvalError", "EvalHTTPError", "EvalFailedError", "EvalTimeoutError", "EvalConnectionError",
    "KernelCode", "KernelType", "IOContract", "ArgSpec", "TensorSpec", "TensorInit", "TensorData",
    "LaunchConfig", "LaunchDim", "RuntimeStats",
    "IOContractBuilder", "create_io_contract", "tensor_spec",
    "create_tensor_spec", "create_randn_spec", "create_uniform_spec", "create_zeros_spec", "create_ones_spec",
    "create_full_spec", "create_arange_spec",
    "to_json", "save_to_file", "load_from_file", "__version__",
]
