"""Ends the timed calls as soon as they show what the request's stop_when asks for. Clear cases then take few calls.

The times are examined after 20, 40, 80, … calls. Each look could end the calls by chance, so the looks share the
allowed error 1 - confidence: it is divided by the number of possible looks, including the one at the end (Bonferroni).
The reported interval uses the level that follows, so it is wider than that of an evaluation without stop_when.
"""

import math
from statistics import NormalDist

from warpboard_stats import quantile

FIRST_LOOK = 20


class Decision:
    """Decides when the timed calls can end; `most` is the largest number of calls. apart(ref, custom) returns the
    relative error that the ratio of two medians can have with any number of calls. Without a reference, only
    half_width can be requested."""

    def __init__(self, wanted, most, apart):
        self._wanted, self._apart = wanted, apart
        self._looks = [FIRST_LOOK << k for k in range(16) if FIRST_LOOK << k < most]
        self.level = 1 - (1 - wanted["confidence"]) / (len(self._looks) + 1)

    def reached(self, ref, custom):
        """Returns the condition that the calls so far fulfill, or None. ref and custom are the times of calls that
        alternate; ref is None without a reference."""
        if len(custom) not in self._looks:
            return None
        if ref is None:
            low, high = self._median(custom, self.level)
            return self._within(low, high, "half_width")
        level = 1 - (1 - self.level) / 2  # half of the allowed error for each of the two medians
        (ref_low, ref_high), (low, high) = self._median(ref, level), self._median(custom, level)
        if low <= 0:
            return None
        apart = self._apart(quantile(ref, 0.5), quantile(custom, 0.5))
        least, most = (1 - apart) * ref_low / high, (1 + apart) * ref_high / low
        if self._wanted.get("speedup_above") is not None and least > self._wanted["speedup_above"]:
            return "speedup_above"
        if self._wanted.get("speedup_below") is not None and most < self._wanted["speedup_below"]:
            return "speedup_below"
        return self._within(least, most, "half_width")

    def holds(self, reason, interval):
        """Reports whether the final interval, from the clocks that count, also fulfills the condition. reached()
        used only the kernels' own clocks, which a kernel can forge."""
        low, high = interval
        if reason == "half_width":
            return self._within(low, high, reason) is not None
        return low > self._wanted[reason] if reason == "speedup_above" else high < self._wanted[reason]

    def _within(self, low, high, name):
        asked = self._wanted.get(name)
        return name if asked is not None and low > 0 and (high - low) / (high + low) <= asked else None

    @staticmethod
    def _median(times, level):
        """Returns a confidence interval of the median from order statistics, for times of any distribution."""
        ordered, n = sorted(times), len(times)
        k = max(math.floor(n / 2 - NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(n) / 2), 1)
        return ordered[k - 1], ordered[n - k]
