"""Formats answers and events as text for display."""

from __future__ import annotations

from typing import Any, Dict, List

from .stats import RuntimeStats


def summary(answer: Dict[str, Any]) -> str:
    """Describes the end of an evaluation in a few lines: verdict, errors, times in ms."""
    result = answer["kernel_exec_result"]
    lines = [f"{_verdict(result)} on {answer.get('gpu_type') or 'unknown device'}, job {answer.get('job_id')}"]
    for name in ("compilation_error", "ref_compilation_error", "validation_error", "profiling_error"):
        if result.get(name):
            lines.append(str(result[name]).rstrip())
    lines += _times("kernel", result.get("runtime_stats"))
    lines += _times("reference", answer.get("ref_runtime"))
    if result.get("speedup"):
        low, high = result.get("speedup_interval") or (None, None)
        interval = f" (95 %: {low:.3f} to {high:.3f})" if low is not None else ""
        lines.append(f"speedup    {result['speedup']:.3f}x{interval}")
    return "\n".join(lines)


def progress_line(event: Dict[str, Any]) -> str:
    """Describes an event in one line."""
    return " ".join(str(event[key]) for key in ("state", "device", "failure") if event.get(key))


def _verdict(result: Dict[str, Any]) -> str:
    if not result.get("compiled"):
        return "does not compile"
    return "correct" if result.get("correctness") else "wrong"


def _times(label: str, stats: Any) -> List[str]:
    if not isinstance(stats, RuntimeStats) or stats.max <= 0:
        return []
    return [
        f"{label:<10} mean {stats.mean:.6g} ms, std {stats.std:.3g}, min {stats.min:.6g}, median {stats.median:.6g}, "
        f"p95 {stats.percentile_95:.6g}, max {stats.max:.6g}"
    ]
