"""Statistics of one timed case, all in nanoseconds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from warpboard_limits import CALL_ERROR, CASE_WALL_NS, LEAST_CALLS, MOST_CALLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def quantile(values: Iterable[float], q: float) -> float:
    """Returns a quantile, by linear interpolation between adjacent values, as NumPy does by default."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


@dataclass
class Stats:
    """Stats has the durations of a case's calls in nanoseconds, and their statistics."""

    times: list = field(default_factory=list)

    def add(self, ns: float) -> None:
        self.times.append(float(ns))

    @property
    def runs(self) -> int:
        return len(self.times)

    @property
    def mean(self) -> float:
        return math.fsum(self.times) / self.runs

    @property
    def std(self) -> float:
        """Returns the sample standard deviation."""
        if self.runs < 2:
            return 0.0
        mean = self.mean
        return math.sqrt(math.fsum((t - mean) ** 2 for t in self.times) / (self.runs - 1))

    @property
    def err(self) -> float:
        """Returns the standard error of the mean."""
        return self.std / math.sqrt(self.runs)

    def quantile(self, q: float) -> float:
        return quantile(self.times, q)

    def lines(self) -> Iterator[tuple[str, float | str]]:
        """Yields (field, value) in the order of KernelBot's programs, then our own fields."""
        yield "runs", self.runs
        yield "mean", self.mean
        yield "std", self.std
        yield "err", self.err
        yield "best", min(self.times)
        yield "worst", max(self.times)
        yield "median", self.quantile(0.5)
        yield "p95", self.quantile(0.95)
        yield "times", ",".join(f"{t:.10g}" for t in self.times)


@dataclass(frozen=True)
class StopRule:
    """StopRule ends the repetitions of a case as KernelBot's programs do."""

    kernel_ns: float  # limit of the sum of the timed calls
    least: int = LEAST_CALLS
    most: int = MOST_CALLS
    error: float = CALL_ERROR
    wall_ns: float = CASE_WALL_NS

    def done(self, stats: Stats, wall_ns: float) -> bool:
        if stats.runs >= self.most:
            return True
        if stats.runs < self.least:
            return False
        return (
            stats.err < self.error * stats.mean
            or stats.mean * stats.runs > self.kernel_ns
            or wall_ns > self.wall_ns
        )
