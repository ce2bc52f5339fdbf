"""Which of the judge's clocks counts, statistics of its times, and of two kernels' times in pairs."""

import math
from dataclasses import dataclass
from statistics import NormalDist, median

import torch

from warpboard_clocks import Clocks, Constants
from warpboard_stats import quantile

RESAMPLES = 1000
_PART = 1 << 14  # elements of resamples that are counted at once
# By how much the judge's clocks may exceed the kernel's own. In 62 series of calls on an H100 the lower quartile of release to done
# did by -0.8 to 1.2 µs, and that of release to answer by -14 to 0.7, or by 10 for both kernels of a pair. What the reference shows is
# allowed to the other, within limits.
_LEAST_NS = (3_000, 12_000)  # of release to done, and of release to answer
_MOST_SHOWN_NS = (6_000, 12_000)
# By how much the judge's clocks may exceed a reference's: in a call of milliseconds 51 µs were seen once without another kernel at work.
_HINDERED_NS, _HINDERED_SHARE = 30_000, 0.01
_MOST_DELAY_NS = 12_000  # of a hand-over, now and then: 99 of 100 calls have less from release to done
_SHORTEST_NS = 1_500  # of a call: what an empty kernel takes
_LARGEST_ERROR = 0.9  # of a time, by which it may be too long
_ALONE_SHARE, _ALONE_NS, _ALONE_WAITING_NS = 0.03, 5_000, 60_000  # what the reference's time alone may differ by
# Deviations of one kernel's times from process to process: a share and ms, and both for one that waits for the device in the middle of a
# call, as .item() does. On H100s such times of 105 to 630 µs differed by 1 to 35 µs in nine pairs, and by 70 of 626 in one.
_PROCESS_SHARE, _PROCESS_MS = 0.0012, 60e-6
_WAITING_SHARE, _WAITING_MS = 0.06, 0.012


class EvaluationClocks(Clocks):
    """Clocks of few calls: while two kernels and the judge have contexts on a device, handing it over takes some 10 µs
    more in one call and less in the next. Such delays only ever lengthen the judge's times, and its constants are lower
    quartiles. So the runner's own clock counts if those of the judge agree with it in the quicker quarter of the calls.
    A kernel that lies in only some calls, or works longer in some, gains at most _MOST_DELAY_NS: if the judge saw a
    call take longer than that, the runner's time does not count. The requester vouches for the reference: its own clock
    counts, and if the judge's clocks differ, it was hindered, or is no kernel to compare with. beside is its clocks,
    for the other kernel."""

    def __init__(self, calls, constants, reference=False, beside=None):
        self._reference, self._on_device = reference, constants.kind == "cuda"  # the rules here are for devices
        self._shown = beside.shown() if beside else (0.0, 0.0)
        super().__init__(calls, _OfFewCalls(**vars(constants), shown=self._shown[0], shown_snapshot=self._shown[1]))

    def shown(self):
        """Returns the amount by which the judge's clocks exceed the kernel's own, within limits: negative if the
        constants are too large."""
        return tuple(min(max(excess, -least), most) for excess, least, most in zip(self.excess(), _LEAST_NS, _MOST_SHOWN_NS))

    def waits(self):
        """Reports whether the kernel waits for the device in the middle of most calls."""
        return self._on_device and _wait(self._calls)

    def hindered(self):
        """Reports whether the judge's times of a reference contradict its own."""
        return self._on_device and max(self.excess()) > max(_HINDERED_NS, _HINDERED_SHARE * quantile(self.events, 0.5))

    def slower_than(self, alone):
        """Reports whether a reference took longer in turns than in these calls, for which there was no other kernel."""
        if not self._on_device:
            return False
        event, least = (quantile(events, 0.5) for events in (self.events, [call.event for call in alone]))
        return event > least * (1 + _ALONE_SHARE) + (_ALONE_WAITING_NS if _wait(alone) else _ALONE_NS)

    def errors(self, alone=()):
        """Returns the amounts by which the times that count may be too long and too short, in ns, whichever clock is
        right; without the spread of the calls. alone are calls of a reference when the other kernel, which may have
        slowed it down, had ended."""
        if self._reference and alone and self._on_device:
            return max(quantile(self.events, 0.5) - quantile([call.event for call in alone], 0.5), 0.0), 0.0
        if self.clock == "event":
            return 0.0, 0.0 if self._reference else max(self.excess()[0] - self._shown[0], 0.0)
        return self.tolerance, self.tolerance

    def excess(self):
        """Returns the amounts by which the judge's two clocks exceed the kernel's own, in ns."""
        event = quantile(self.events, 0.5)
        return [quantile(seen, 0.25) - event for seen in (self.walls, self.snapshots)]

    def _choose(self):
        clock, times = super()._choose()
        if not self._on_device:
            return clock, times
        if self._reference:
            return "event", [max(said, _SHORTEST_NS) for said in self.events]
        event, wall, snapshot = quantile(self.events, 0.5), quantile(self.walls, 0.25), quantile(self.snapshots, 0.25)
        late = self._most_apart(self.constants.snapshot_tolerance(snapshot))
        apart = snapshot - wall > late - self._shown[1]  # work after "done"
        if apart or max(wall - self.tolerance, snapshot - late) > event:
            return clock, times
        return "event", [max(said, _least(seen, wall) - self.tolerance, _least(taken, snapshot) - late, _SHORTEST_NS)
                         for said, seen, taken in zip(self.events, self.walls, self.snapshots)]

    def _after_done(self, tolerance):
        """Returns no allowance: the reference's times excuse no work after "done"."""
        more = super()._after_done(tolerance - self._shown[1])
        return more if more > 0 else -tolerance


@dataclass(frozen=True)
class _OfFewCalls(Constants):
    """Constants that allow the delays of few calls on a device."""

    shown: float = 0.0
    shown_snapshot: float = 0.0

    def tolerance(self, ns):
        return self._at_least(super().tolerance(ns), _LEAST_NS[0] + self.shown)

    def snapshot_tolerance(self, ns):
        return self._at_least(super().snapshot_tolerance(ns), _LEAST_NS[1] + self.shown_snapshot)

    def _at_least(self, tolerance, least):
        return tolerance if self.kind == "host" else max(tolerance, least)


def _wait(calls):
    """Reports whether most of the calls were released before all was queued."""
    return 2 * sum(call.late for call in calls) > len(calls)


def _least(ns, quicker):
    """The least that a call can have taken which took ns by the judge's clock and `quicker` by the others."""
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


def medians(sample, picks):
    """The median of each resample: picks has the places of its elements in a row. It counts the elements in their order, a part of the resamples
    at once, which takes a third of the time of looking for each median. For such parts, and by these functions, PyTorch begins no threads, whose
    start takes longer than the counting."""
    order, size, found = sample.argsort(), len(sample), []
    for part in picks.split(max(_PART // size, 1)):
        places = part + size * torch.arange(len(part)).unsqueeze(1)
        counts = torch.bincount(places.flatten(), minlength=part.numel()).view(part.shape)
        seen = counts.index_select(1, order).cumsum(-1)
        low, high = (sample[order[(seen < middle).sum(-1)]] for middle in ((size + 1) // 2, size // 2 + 1))
        found.append((low + high) / 2)
    return torch.cat(found)


def apart(*medians, waits=False):
    """The share by which the ratio of two medians, in ms, may be wrong because each is of one process: as in interval.go, times of
    one kernel differ from process to process."""
    share, least = (_WAITING_SHARE, _WAITING_MS) if waits else (_PROCESS_SHARE, _PROCESS_MS)
    return 1.96 * math.sqrt(sum(share**2 + min(least / ms, 0.25) ** 2 for ms in medians if ms > 0))


def speedup(ref, custom, of_ref=(0.0, 0.0), of_custom=(0.0, 0.0), apart=0.0, level=0.95, paired=True):
    """Ratio of medians, with its interval of a level: by resampling the pairs, or both samples alone if the calls were not in turns; by
    how much each median may be too long and too short; and by the share that the ratio is wrong because of the processes. None when
    the custom one's is zero."""
    a, b = torch.tensor(ref, dtype=torch.float64), torch.tensor(custom, dtype=torch.float64)
    x, y = median(ref), median(custom)
    if y <= 0:
        return None, None
    generator = torch.Generator().manual_seed(0)
    picks = torch.randint(0, len(a), (RESAMPLES, len(a)), generator=generator)
    others = picks if paired else torch.randint(0, len(b), (RESAMPLES, len(b)), generator=generator)
    ratios = medians(a, picks) / medians(b, others)
    low, high = (float(torch.quantile(ratios, q)) for q in ((1 - level) / 2, (1 + level) / 2))
    if (1 - level) * RESAMPLES < 20:  # too few lie beyond the quantiles
        reach = NormalDist().inv_cdf((1 + level) / 2) * float(ratios.log().std())
        low, high = min(low, x / y * math.exp(-reach)), max(high, x / y * math.exp(reach))
    least = (1 - apart) * max(x - of_ref[0], 0.0) / (y + of_custom[1])
    most = (1 + apart) * (x + of_ref[1]) / (y - min(of_custom[0], _LARGEST_ERROR * y))
    return x / y, [low * least * y / x, high * most * y / x] if x > 0 else [low, high]
