"""Which of the judge's clocks counts, statistics of its times, and of two kernels' times in pairs."""

from dataclasses import astuple

import torch

from warpboard_clocks import Clocks, Constants, mostly_late
from warpboard_stats import quantile

RESAMPLES = 1000
TURN_NS = 150_000  # what two contexts take to change places: an input that took so much longer was interrupted by one
_MOST_DELAY_NS = 25_000  # of a hand-over, now and then


class EvaluationClocks(Clocks):
    """Clocks of few calls: while two kernels and the judge have contexts on a device, handing it over takes some 10 µs more
    in one call and less in the next. Such delays only ever lengthen what the judge sees, and its constants are lower
    quartiles. So the runner's own clock counts where those of the judge agree with it in the quicker quarter of the
    calls. Whoever lies in some calls alone, or works longer in some, gains no more than _MOST_DELAY_NS: nothing that the judge
    saw take longer than that is believed.

    The reference is only compared with: its calls are not doubted one by one, and an input of its that took longer to write is
    the other kernel's doing, or nobody's."""

    def __init__(self, calls, constants, reference=False):
        self._reference = reference
        super().__init__(calls, _Patient(*astuple(constants)) if reference else constants)
        # On one machine half of the calls with inputs of get_inputs() took 50 µs longer to prepare, and nobody else was there.
        self.disturbed = sum(self.constants.turns(call) > TURN_NS for call in calls) / len(calls)

    def _choose(self):
        clock, times = super()._choose()
        event, wall, snapshot = quantile(self.events, 0.5), quantile(self.walls, 0.25), quantile(self.snapshots, 0.25)
        late = self.constants.snapshot_tolerance(snapshot)
        apart = snapshot - wall > late  # work after "done"
        if self.constants.kind == "host" or mostly_late(self._calls) or apart or max(wall - self.tolerance, snapshot - late) > event:
            return clock, times
        if self._reference:
            return "event", list(self.events)
        return "event", [max(said, _least(seen, wall) - self.tolerance, _least(taken, snapshot) - late)
                         for said, seen, taken in zip(self.events, self.walls, self.snapshots)]


class _Patient(Constants):
    def turns(self, call):
        excess = super().turns(call)
        return excess if excess > TURN_NS else 0.0


def _least(ns, quicker):
    """What a call took at the least that took ns by the judge's clock, and others quicker."""
    return max(min(ns, quicker), ns - _MOST_DELAY_NS)


def stats(times):
    """Seven statistics in ms, at full precision; std is the population's."""
    sample = torch.tensor(times, dtype=torch.float64)
    quantile = lambda q: float(torch.quantile(sample, q))  # noqa: E731
    return {
        "mean": float(sample.mean()), "std": float(sample.std(unbiased=False)),
        "min": float(sample.min()), "max": float(sample.max()), "median": quantile(0.5),
        "percentile_95": quantile(0.95), "percentile_99": quantile(0.99),
    }


def median(sample):
    """The median along the last dimension, of an even count the mean of the two in the middle."""
    count = sample.shape[-1]
    return (sample.kthvalue((count + 1) // 2).values + sample.kthvalue(count // 2 + 1).values) / 2


def speedup(ref, custom):
    """Ratio of medians, with its 95 % interval by resampling the pairs; None when a median is zero."""
    a, b = torch.tensor(ref, dtype=torch.float64), torch.tensor(custom, dtype=torch.float64)
    if float(median(b)) <= 0:
        return None, None
    generator = torch.Generator().manual_seed(0)
    picks = torch.randint(0, len(a), (RESAMPLES, len(a)), generator=generator)
    ratios = median(a[picks]) / median(b[picks])
    interval = [float(torch.quantile(ratios, 0.025)), float(torch.quantile(ratios, 0.975))]
    return float(median(a) / median(b)), interval
