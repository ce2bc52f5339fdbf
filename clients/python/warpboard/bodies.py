"""Makes the bodies of evaluation requests, and converts answers."""

from __future__ import annotations

from typing import Any, Dict, Set, Tuple, Union

from .kernels import KernelCode
from .stats import RuntimeStats

Kernel = Union[KernelCode, Dict[str, Any]]
#: A kernel, or a reference and a kernel to compare with it.
Request = Union[Kernel, Tuple[Kernel, Kernel]]

#: Options of every request. None means the server's default.
OPTIONS = {"num_trials", "stop_when", "cases", "setup", "require", "timeout", "gpu_type", "l2_flush", "collect_device_metrics", "ncu_sections", "reuse_result", "shared"}
#: Further options of comparisons.
COMPARISONS = {"atol", "rtol", "required_matched_ratio", "matched", "max_error", "equal_nan", "infinite", "tolerances", "baselines", "reuse_reference"}


def evaluate_body(kernel: Kernel, options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the body to evaluate one kernel. Raises TypeError for an unknown option."""
    return {"kernel": _kernel(kernel), **_known(options, OPTIONS)}


def compare_body(ref_kernel: Kernel, custom_kernel: Kernel, options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the body to compare a kernel with its reference. Raises TypeError for an unknown option."""
    kernels = {"ref_kernel": _kernel(ref_kernel), "custom_kernel": _kernel(custom_kernel)}
    return {**kernels, **_known(options, OPTIONS | COMPARISONS)}


def request_body(request: Request, options: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the body for one request of evaluate_many: a kernel, or a pair of a reference and a kernel."""
    if isinstance(request, tuple):
        return compare_body(request[0], request[1], options)
    return evaluate_body(request, options)


def with_stats(answer: Dict[str, Any]) -> Dict[str, Any]:
    """Converts runtime_stats and ref_runtime in the answer to RuntimeStats, unless they are empty, and returns the
    answer."""
    outcome = answer.get("kernel_exec_result")
    for place, name in ((answer, "ref_runtime"), (outcome, "runtime_stats")):
        if isinstance(place, dict) and isinstance(place.get(name), dict) and place[name]:
            place[name] = RuntimeStats.from_dict(place[name])
    return answer


def _kernel(kernel: Kernel) -> Dict[str, Any]:
    return kernel.to_dict() if isinstance(kernel, KernelCode) else kernel


def _known(options: Dict[str, Any], names: Set[str]) -> Dict[str, Any]:
    unknown = sorted(set(options) - names)
    if unknown:
        raise TypeError(f"unknown option {', '.join(unknown)}; there are {', '.join(sorted(names))}")
    return {name: value for name, value in options.items() if value is not None}
