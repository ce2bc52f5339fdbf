"""RuntimeStats, the statistics of timed calls."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Dict

from .model import Model


@dataclass
class RuntimeStats(Model):
    """Seven statistics of a kernel's timed calls, in milliseconds. std is the population standard deviation."""

    mean: float
    std: float
    min: float
    max: float
    median: float
    percentile_95: float = 0.0
    percentile_99: float = 0.0

    @classmethod
    def from_dict(cls, data: Dict[str, Any]) -> "RuntimeStats":
        """Returns the statistics in an answer. A missing number becomes 0.0, as for a kernel that was not timed."""
        return cls(**{f.name: data.get(f.name, 0.0) for f in fields(cls)})
