"""Evaluation of a case's calls: the constants of the judge's clocks, and the time that counts.

There are three times per call, in nanoseconds: the runner's clock (event), release to done minus the hand-over (wall),
and release to the judge's copy of the answer minus hand-over and copy (snapshot). A case's time is the largest of
median(event), median(wall) - tolerance, and median(snapshot) - tolerance: a runner can forge only the first. On a
device a sample of the answer shows whether the answer was there at "done"; its delay beyond the usual one is added to
both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from warpboard_limits import (
    DEVICE_COPY_TOLERANCE_NS, DEVICE_HANDOVER_NS, DEVICE_TOLERANCE_NS, HOST_TOLERANCE_NS, MIDDLE_SAMPLE_NS, MIDDLE_SWITCH_NS, SAMPLE_NS,
    SAMPLED_NS, SLOW_TURN_NS, SWITCH_NS, TURN_NS, WRITTEN_BYTE_NS)
from warpboard_stats import Stats, quantile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warpboard_calls import Call

# Least tolerances of the clocks wall and snapshot, in nanoseconds.
_LEAST_NS = {"host": (HOST_TOLERANCE_NS, 5_000), "cuda": (DEVICE_TOLERANCE_NS, DEVICE_COPY_TOLERANCE_NS)}
_HIDDEN_NS = 20_000  # addition for work after "done" that stays unseen while the device returns to the judge

_SPREADS = 2.0  # allowed error of a clock, as a multiple of the constants' interquartile range

# Limit of the tolerance, as a share of the time. On a noisy machine, which exceeds it, the judge's clocks count.
_MOST_SHARE = {"host": 0.02, "cuda": 0.01}

# On the host, the constant for an empty call exceeds the shortest empty call by at most this much.
_UNEVEN_NS = 10_000

# Limit of the constants: a busy machine takes longer for empty calls, but this must not reduce the times of other
# calls.
_MOST_NS = {"host": 100_000, "cuda": DEVICE_HANDOVER_NS}

# SLOW_TURN_NS is the time by which writing an input may exceed the usual time if not all of it was queued before the
# device began (turn_delay). For each part of the answer, up to _MOST_PARTS, _PART_NS is added to it, because the part's
# copy is queued in this time, too.
_PART_NS, _MOST_PARTS = 5_000, 32

# Queueing work for a device may take the submission this much longer than our own runner, if it knows no more than a
# few numbers before the release: launching torch's kernels took 130 µs more.
QUEUEING_NS = 250_000



@dataclass(frozen=True)
class Constants:
    """Constants has the times of an empty call by the judge's clocks, in nanoseconds. They are measured with the
    judge's own runner after the end of the submission."""

    kind: str  # "host" or "cuda"
    handover: float  # time from release to done
    snapshot: float  # time from release to the copied answer
    spread: float  # interquartile range of handover
    snapshot_spread: float
    prepared: float  # time to write an input on the device
    switched: float  # time from the end of the judge's hold until the runner's gate runs
    sampled: float  # time from done to the sample of the answer
    described: float = 0.0  # time from description to release, if the clock starts with the description
    queueing: float = 0.0  # the submission's described may exceed ours by this much
    written: int = 0  # bytes of the input on the device
    byte: float = WRITTEN_BYTE_NS  # time by which each further byte may prolong the writing

    @classmethod
    def of(cls, kind: str, calls: Sequence[Call], mapping: float = 0, queueing: float = 0.0) -> Constants:
        """Returns the constants from calls of our own runner. mapping is the longest time to map the input on a host.
        The constants must be close to the shortest times, because a disturbance of our runner would shorten the
        submission's times: so it uses the lower quartile, and on the host, where processes compete, a limited median.
        The time from description to release, about a millisecond, has a separate quartile. It
        counts if the kernel needs large arrays on the host."""
        low, high = (0.25, math.inf) if kind == "cuda" else (0.5, _UNEVEN_NS)
        walls, snapshots = ([ns - call.described - call.event for ns, call in zip(clock, calls)]
                            for clock in ([call.wall for call in calls], [call.snapshot for call in calls]))
        handover, snapshot = (min(quantile(times, low), min(times) + high) for times in (walls, snapshots))
        copy = snapshot - handover
        if kind == "host":
            copy = min(copy, _MOST_NS[kind] + mapping + calls[-1].size)
        described = 0.0 if calls[-1].keeps_host is False else quantile([call.described for call in calls], 0.25)
        handover = described + min(handover, _MOST_NS[kind] + mapping)
        return cls(kind, handover, handover + copy, _range(walls), _range(snapshots),
                   quantile([call.prepared for call in calls], 0.5), quantile([call.switched for call in calls], 0.5),
                   quantile([call.sampled - call.wall for call in calls], 0.5), described, queueing,
                   calls[-1].written)._with_byte(calls)

    def no_more_than(self, calls: Sequence[Call]) -> Constants:
        """Returns the constants, limited by the quickest of these calls: if those were quicker than empty calls, the
        machine was busy during the empty calls. A call that falsely reports its end early lowers the constants, which
        makes its own time longer."""
        handover = min(self.handover, max(quantile([call.wall + self.lead(call) for call in calls], 0.1), 0.0))
        snapshot = min(self.snapshot, max(quantile([call.snapshot + self.lead(call) for call in calls], 0.1), handover))
        return replace(self._with_byte(calls), handover=handover, snapshot=snapshot)

    def _with_byte(self, calls: Sequence[Call]) -> Constants:
        """Returns the constants, with byte limited by the least share of a byte in the time to write an input, which is
        the most exact for the largest input. Calls of the submission can only reduce it."""
        return replace(self, byte=min([self.byte, *(call.prepared / call.written for call in calls if call.written)]))

    def lead(self, call: Call) -> float:
        """Returns an addition to a call's clocks: the time by which it was released sooner after its description than
        our own runner's calls. A runner so saves nothing by queueing quickly. It is negative, down to -queueing, if
        queueing took longer."""
        return max(self.described - call.described, -self.queueing)

    def additions(self, calls: Sequence[Call]) -> list[float]:
        """Returns the additions to each call's clocks: delays before the release and after "done"."""
        gate, sample = self._middle_delays(calls)
        return [self.turn_delay(call) + self.lead(call) + max(self._gate(call) - SWITCH_NS, gate) + max(self._sample(call) - SAMPLE_NS, sample)
                for call in calls]

    def _middle_delays(self, calls):
        """Returns the excess delays of the gate and of the sample, each as the median of the calls minus an allowance.
        On an H100 the medians of 62 series of calls were within 3 µs for the gate."""
        return (max(quantile([self._gate(call) for call in calls], 0.5) - MIDDLE_SWITCH_NS, 0.0),
                max(quantile([self._sample(call) for call in calls], 0.5) - MIDDLE_SAMPLE_NS, 0.0))

    def _gate(self, call):
        """Returns the delay of the gate's report beyond the usual one, in which the runner may have worked on the
        unsealed parts of the input."""
        return call.switched - self.switched if self.kind == "cuda" else 0.0

    def _sample(self, call):
        """Returns the delay of a sample beyond the usual one. Work in this time counts, because the sample has its
        results."""
        return call.sampled - call.wall - self.sampled if self.kind == "cuda" else 0.0

    def tolerance(self, ns: float) -> float:
        """Returns the tolerance of the wall clock for a time of ns nanoseconds."""
        return max(_LEAST_NS[self.kind][0], min(_SPREADS * self.spread, _MOST_SHARE[self.kind] * ns))

    def snapshot_tolerance(self, ns: float) -> float:
        return max(_LEAST_NS[self.kind][1], min(_SPREADS * self.snapshot_spread, _MOST_SHARE[self.kind] * ns))

    def turn_delay(self, call: Call) -> float:
        """Returns the excess time for writing the input on the device, if it exceeds the allowance. In this time,
        another context may have had the device, or host threads may have read the input. A larger input than that of
        our own runner usually takes longer."""
        excess = call.prepared - self.prepared - self.byte * max(call.written - self.written, 0)
        usual = TURN_NS if call.at_once else SLOW_TURN_NS + _PART_NS * min(call.parts, _MOST_PARTS)
        return excess if excess > usual else 0.0


def _range(values):
    return quantile(values, 0.75) - quantile(values, 0.25)


class Clocks:
    """Clocks has the three times of a case's timed calls, and the time that counts."""

    def __init__(self, calls: Sequence[Call], constants: Constants) -> None:
        constants = constants.no_more_than(calls)
        self.constants, self._calls = constants, calls
        self.events = [call.event for call in calls]
        # share of the calls with a turn_delay
        self.disturbed = sum(constants.turn_delay(call) > 0 for call in calls) / len(calls)
        more = constants.additions(calls)
        self.walls = [call.wall - constants.handover + ns for call, ns in zip(calls, more)]
        self.snapshots = [call.snapshot - constants.snapshot + ns for call, ns in zip(calls, more)]
        wall = quantile(self.walls, 0.5)
        self.tolerance = constants.tolerance(wall)
        self.clock, times = self._choose()
        self.stats = Stats([max(ns, 1.0) for ns in times])

    def _choose(self):
        """Returns the name of the clock that counts and each call's time by it."""
        most = self.constants.snapshot_tolerance(quantile(self.snapshots, 0.5))
        candidates = {"event": self.events, "wall": [ns - self.tolerance for ns in self.walls],
                      "snapshot": [ns + self._after_done(most) for ns in self.snapshots]}
        clock = max(candidates, key=lambda name: quantile(candidates[name], 0.5))
        return clock, [max(ns, event) for ns, event in zip(candidates[clock], self.events)]

    def _after_done(self, tolerance):
        """Returns the correction of the snapshot times in nanoseconds: minus a tolerance if they agree with the wall
        clock. If they do not, the device still worked after "done", and the correction adds the part of this work that
        stays unseen."""
        apart = quantile(self.snapshots, 0.5) - quantile(self.walls, 0.5)
        return _HIDDEN_NS if self.constants.kind == "cuda" and apart > self._most_apart(tolerance) else -tolerance

    def _most_apart(self, tolerance):
        """Returns by how much the median of snapshots may exceed that of walls, in nanoseconds, before the device
        counts as working after "done". The copy of an answer takes up to 12 µs more in one process than in the next. If
        the judge took a sample of the answer in every call, the limit is at least SAMPLED_NS: most work after "done"
        delays the sample, and that delay is already part of both times."""
        sampled = self.constants.kind == "cuda" and all(call.sampled > call.wall for call in self._calls)
        return max(tolerance, SAMPLED_NS) if sampled else tolerance

    def lines(self) -> Iterator[tuple[str, float | str]]:
        """Yields (field, value) for the report."""
        yield from self.stats.lines()
        yield "clock", self.clock
        for name, values in (("event", self.events), ("wall", self.walls), ("snapshot", self.snapshots)):
            yield name, f"{quantile(values, 0.5):.10g}"
            yield name + "s", ",".join(f"{ns:.10g}" for ns in values)
        yield "late", sum(call.late for call in self._calls)
        yield "prepared", f"{quantile([call.prepared for call in self._calls], 0.5):.10g}"
        yield "switched", f"{quantile([call.switched for call in self._calls], 0.5):.10g}"
        yield "tolerance", f"{self.tolerance:.10g}"
        yield "handover", f"{self.constants.handover:.10g}"
