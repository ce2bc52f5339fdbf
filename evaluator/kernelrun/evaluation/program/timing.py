"""Which of the judge's clocks counts, statistics of its times, and of two kernels' times in pairs."""

import torch

from warpboard_clocks import Clocks, mostly_late
from warpboard_stats import quantile

RESAMPLES = 1000
TURN_NS = 150_000  # what two contexts take to change places: an input that took so much longer was interrupted by one


class EvaluationClocks(Clocks):
    """Clocks of few calls: while two kernels and the judge have contexts on a device, handing it over takes some 10 µs more
    in one call and less in the next. Such delays only ever lengthen what the judge sees, and its constants are lower
    quartiles. So the runner's own clock counts where those of the judge agree with it in the quicker quarter of the
    calls. Nobody gains by being honest in a quarter of them: each has an input of its own, and takes what it takes.

    disturbed counts only whole turns of another context: on one machine half of the calls with inputs of get_inputs() took
    50 µs longer to prepare, and nobody else was there."""

    def __init__(self, calls, constants):
        super().__init__(calls, constants)
        self.disturbed = sum(self.constants.turns(call) > TURN_NS for call in calls) / len(calls)

    def _choose(self):
        clock, times = super()._choose()
        event = quantile(self.events, 0.5)
        tolerance = self.constants.snapshot_tolerance(quantile(self.snapshots, 0.25))
        apart = quantile(self.snapshots, 0.25) - quantile(self.walls, 0.25) > tolerance  # work after "done"
        agree = quantile(self.walls, 0.25) - self.tolerance <= event and quantile(self.snapshots, 0.25) - tolerance <= event
        if self.constants.kind == "host" or mostly_late(self._calls) or apart or not agree:
            return clock, times
        return "event", list(self.events)


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
