"""Selects the judge's clock that counts, and computes statistics of its times and the speedup of two kernels."""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist, median

import torch

from warpboard_clocks import Clocks, Constants
from warpboard_stats import quantile

RESAMPLES = 1000
_PART = 1 << 14  # elements of resamples that are counted at once
# Amounts by which the judge's clocks may exceed the kernel's own, in ns. In 62 series of calls on an H100, the lower
# quartile from release to done did so by -0.8 to 1.2 µs, and that from release to answer by -14 to 0.7 µs, or by 10 µs
# for both kernels of a pair. An excess that the reference shows is also allowed to the other kernel, up to
# _MOST_SHOWN_NS.
_LEAST_NS = (3_000, 12_000)  # from release to done, and from release to answer
_MOST_SHOWN_NS = (6_000, 12_000)
# Excess of the judge's clocks from which a reference was hindered, in ns, and as a share of its time. In a call of
# milliseconds, an excess of 51 µs was seen once although no other kernel ran.
_HINDERED_NS, _HINDERED_SHARE = 30_000, 0.01
# Longest delay when the device switches contexts: from release to done, 99 of 100 calls have less
_MOST_DELAY_NS = 12_000
_SHORTEST_NS = 1_500  # shortest possible time of a call: that of an empty kernel
_LEAST_ALIKE = 8  # least number of calls whose clocks are compared
# Our own runner takes less than this for an empty call on a host; what exceeds it is the time to map the input, which a
# kernel's process can leave out
_MOST_EMPTY_HOST_NS = 100_000
_LARGEST_ERROR = 0.9  # largest share of a median by which it can be too long
# How much longer the reference may take in turns than alone, by kind of device: a share, and ns. It is more if the
# reference waits for the device, which can take 10 µs more each time while other contexts exist, and on a host, where
# idle threads of the other kernel, and other programs, use the processors.
_ALONE = {"cuda": (0.03, 5_000), "host": (2.0, 50_000)}
_ALONE_WAITING = 0.3, 60_000
# Standard deviation of one kernel's median time from process to process: a share, and ms. The _WAITING values are for
# kernels that wait for the device in the middle of a call, as .item() does. On H100s, such times of 105 to 630 µs
# differed by 1 to 35 µs in nine pairs of processes, and by 70 µs of 626 µs in one.
_PROCESS_SHARE, _PROCESS_MS = 0.0012, 60e-6
_WAITING_SHARE, _WAITING_MS = 0.06, 0.012


class EvaluationClocks(Clocks):
    """Clocks for few calls. While two kernels and the judge have contexts on a device, switching between contexts
    takes about 10 µs more in one call and less in the next. Such delays only make the judge's times longer, and its
    constants are lower quartiles. So the runner's own clock counts if the judge's clocks agree with it in the
    quickest quarter of the calls. A kernel that forges its time, or works longer, in only some calls gains at most
    _MOST_DELAY_NS per call: if the judge saw a call take longer than that, the runner's time does not count. The
    reference is trusted, because the requester chose it: its own clock counts, and if the judge's clocks differ,
    either something hindered it, or it cannot be compared. beside has the reference's clocks if these are the other
    kernel's."""

    def __init__(self, calls, constants, reference=False, beside=None):
        # The rules of this class apply only to devices
        self._reference, self._on_device = reference, constants.kind == "cuda"
        self._shown = beside.shown() if beside else (0.0, 0.0)
        self._alike = alike(calls)
        super().__init__(calls, _OfFewCalls(**vars(constants), shown=self._shown[0], shown_snapshot=self._shown[1]))

    def shown(self):
        """Returns the amounts by which the judge's two clocks exceed the kernel's own, in ns, within limits. They
        are negative if the constants are too large."""
        return tuple(min(max(excess, -least), most) for excess, least, most in zip(self.excess(), _LEAST_NS, _MOST_SHOWN_NS))

    def waits(self):
        """Reports whether the kernel waits for the device in the middle of most calls."""
        return self._on_device and _wait(self._calls)

    def hindered(self):
        """Reports whether the judge's clocks show a much longer time of the reference than its own clock."""
        return self._on_device and max(self.excess()) > max(_HINDERED_NS, _HINDERED_SHARE * quantile(self.events, 0.5))

    def slower_than(self, alone):
        """Reports whether the reference took longer while it took turns with the other kernel (slower)."""
        return slower(self._calls, alone, self.constants.kind)

    def errors(self, alone=()):
        """Returns the amounts, in ns, by which the times that count may be too long and too short if another clock
        is right. The spread of the calls is not included. alone are calls of the reference after the other kernel,
        which may have slowed it down, had ended. On a host, the time of a call includes the runner's work on the
        answer, such as its copy, which a kernel that changes the runner can avoid."""
        event, copying = quantile(self.events, 0.5), 0.0
        if self._reference and not self._on_device:
            copying = max(quantile(self.stats.times, 0.5) - event, 0.0)
        if self._reference and alone:
            return max(event - quantile([call.event for call in alone], 0.5), 0.0) + copying, 0.0
        if self.clock == "event":
            return 0.0, 0.0 if self._reference else max(self.excess()[0] - self._shown[0], 0.0)
        mapping = 0.0 if self._on_device else max(self.constants.handover - _MOST_EMPTY_HOST_NS, 0.0)
        return self.tolerance + copying, self.tolerance + mapping

    def excess(self):
        """Returns the amounts by which the judge's two clocks exceed the kernel's own, in ns."""
        event, wall, snapshot = self._typical()
        return [wall - event, snapshot - event]

    def _typical(self):
        """Returns the time of a call by the kernel's clock and by the judge's two, in ns. The judge's times are lower
        quartiles, and the kernel's is a median. All are of calls with inputs of about the same size, because a quartile
        of shorter calls says nothing about the others."""
        return [quantile([times[i] for i in self._alike], q) for times, q in ((self.events, 0.5), (self.walls, 0.25), (self.snapshots, 0.25))]

    def _choose(self):
        clock, times = super()._choose()
        if not self._on_device:
            return clock, times
        if self._reference:
            return "event", [max(said, _SHORTEST_NS) for said in self.events]
        event, wall, snapshot = self._typical()
        late = self._most_apart(self.constants.snapshot_tolerance(snapshot))
        apart = snapshot - wall > late - self._shown[1]  # the kernel worked after it had reported "done"
        if apart or max(wall - self.tolerance, snapshot - late) > event:
            return clock, times
        return "event", [max(said, _least(seen, wall) - self.tolerance, _least(taken, snapshot) - late, _SHORTEST_NS)
                         for said, seen, taken in zip(self.events, self.walls, self.snapshots)]

    def _after_done(self, tolerance):
        """Returns the correction of the snapshots (see Clocks). The excess that the reference shows does not excuse
        work after "done"."""
        more = super()._after_done(tolerance - self._shown[1])
        return more if more > 0 else -tolerance


def alike(calls):
    """Returns the indices of the calls whose inputs are as large as those of the call with the median time, and if these
    are few, of calls with inputs of nearly that size."""
    numbers = range(len(calls))
    size = calls[sorted(numbers, key=lambda i: calls[i].event)[len(calls) // 2]].written
    nearest = sorted(numbers, key=lambda i: abs(calls[i].written - size))
    return nearest[:max(sum(call.written == size for call in calls), _LEAST_ALIKE)]


def from_release(calls, constants):
    """Returns calls and constants whose times start with the release, also if the runner had a description of the
    input before it. A reference needs that time only to queue its work. So does a kernel that learns only the shapes
    of the input: if they were the same in all calls, it would know them, too."""
    at_release = [replace(call, wall=call.wall - call.described, sampled=call.sampled - call.described,
                          snapshot=call.snapshot - call.described, described=0.0) for call in calls]
    ours = constants.described
    return at_release, replace(constants, handover=constants.handover - ours, snapshot=constants.snapshot - ours, described=0.0)


def of_one_size(calls, byte):
    """Returns the calls as if all answers had the size of the smallest. byte is the time in ns to copy a further byte
    of an answer."""
    least = min(call.size for call in calls)
    return [replace(call, snapshot=call.snapshot - byte * (call.size - least)) for call in calls]


@dataclass(frozen=True)
class _OfFewCalls(Constants):
    """Constants with larger tolerances, for the delays that few calls on a device have."""

    shown: float = 0.0
    shown_snapshot: float = 0.0

    def tolerance(self, ns):
        return self._at_least(super().tolerance(ns), _LEAST_NS[0] + self.shown)

    def snapshot_tolerance(self, ns):
        return self._at_least(super().snapshot_tolerance(ns), _LEAST_NS[1] + self.shown_snapshot)

    def _at_least(self, tolerance, least):
        return tolerance if self.kind == "host" else max(tolerance, least)


def slower(turns, alone, kind):
    """Reports whether the reference took longer in `turns`, calls in which it took turns with the other kernel, than in
    nine of ten calls of `alone`, which it made after the other had ended."""
    share, ns = _ALONE_WAITING if kind == "cuda" and _wait(alone) else _ALONE[kind]
    usual, most = (quantile([call.event for call in calls], q) for calls, q in ((turns, 0.5), (alone, 0.9)))
    return usual > most * (1 + share) + ns


def _wait(calls):
    """Reports whether the judge had to release most of these calls before all their work was queued."""
    return 2 * sum(call.late for call in calls) > len(calls)


def _least(ns, quicker):
    """Returns the shortest time that a call can have taken if the judge's clock measured ns, because at most
    _MOST_DELAY_NS of that is a delay. quicker is the lower quartile of all calls by the same clock."""
    return max(min(ns, quicker), ns - _MOST_DELAY_NS)


def stats(times):
    """Returns seven statistics of the times in ms, without rounding. std is that of the population."""
    sample = torch.tensor(times, dtype=torch.float64)
    quantiles = torch.quantile(sample, torch.tensor([0.0, 0.5, 0.95, 0.99, 1.0], dtype=torch.float64)).tolist()
    names = "min", "median", "percentile_95", "percentile_99", "max"
    return {"mean": float(sample.mean()), "std": float(sample.std(unbiased=False)), **dict(zip(names, quantiles))}


def medians(sample, picks):
    """Returns the median of each resample; a row of picks has the indices of its elements in the sample. It counts
    how often each element occurs, in the order of the elements, for a part of the resamples at once. This takes a
    third of the time of computing each median separately. For parts of this size, PyTorch starts no threads in these
    functions; starting them takes longer than counting."""
    order, size, found = sample.argsort(), len(sample), []
    for part in picks.split(max(_PART // size, 1)):
        places = part + size * torch.arange(len(part)).unsqueeze(1)
        counts = torch.bincount(places.flatten(), minlength=part.numel()).view(part.shape)
        seen = counts.index_select(1, order).cumsum(-1)
        low, high = (sample[order[(seen < middle).sum(-1)]] for middle in ((size + 1) // 2, size // 2 + 1))
        found.append((low + high) / 2)
    return torch.cat(found)


def apart(*medians, waits=False):
    """Returns the relative error that the ratio of two medians (in ms) can have because each was measured in one
    process only. As in interval.go, the times of one kernel differ from process to process."""
    share, least = (_WAITING_SHARE, _WAITING_MS) if waits else (_PROCESS_SHARE, _PROCESS_MS)
    return 1.96 * math.sqrt(sum(share**2 + min(least / ms, 0.25) ** 2 for ms in medians if ms > 0))


def speedup(ref, custom, of_ref=(0.0, 0.0), of_custom=(0.0, 0.0), apart=0.0, level=0.95, paired=True):
    """Returns (the ratio of the medians, its confidence interval); (None, None) if the custom kernel's median is
    zero. Times are resampled in pairs, or separately if the calls did not alternate. The interval is then widened:
    of_ref and of_custom are the amounts by which each median may be too long and too short, and apart is the
    relative error because of the processes."""
    a, b = torch.tensor(ref, dtype=torch.float64), torch.tensor(custom, dtype=torch.float64)
    x, y = median(ref), median(custom)
    if y <= 0:
        return None, None
    generator = torch.Generator().manual_seed(0)
    picks = torch.randint(0, len(a), (RESAMPLES, len(a)), generator=generator)
    others = picks if paired else torch.randint(0, len(b), (RESAMPLES, len(b)), generator=generator)
    ratios = medians(a, picks) / medians(b, others)
    low, high = (float(torch.quantile(ratios, q)) for q in ((1 - level) / 2, (1 + level) / 2))
    # Fewer than ten resamples beyond each quantile do not determine it. The interval then includes that of a normal
    # distribution with the deviation of the resampled ratios' logarithms.
    if (1 - level) * RESAMPLES < 20:
        reach = NormalDist().inv_cdf((1 + level) / 2) * float(ratios.log().std())
        low, high = min(low, x / y * math.exp(-reach)), max(high, x / y * math.exp(reach))
    least = (1 - apart) * max(x - of_ref[0], 0.0) / (y + of_custom[1])
    most = (1 + apart) * (x + of_ref[1]) / (y - min(of_custom[0], _LARGEST_ERROR * y))
    return x / y, [low * least * y / x, high * most * y / x] if x > 0 else [low, high]
