"""When the timed calls have shown what was asked for (stop_when): few calls first, and more only where they matter.

The times are looked at after 20, 40, 80, … calls. Each look could stop by chance, so all of them share the error that the
confidence leaves: a look's own is that divided by the number of looks, that at the end included (Bonferroni), and
the interval of an evaluation that may stop is as wide.
"""

import math
from statistics import NormalDist

from warpboard_stats import quantile

FIRST_LOOK = 20


class Decision:
    """For at most so many timed calls. apart is a function of medians: the share by which their ratio may be wrong whatever the
    number of calls. Without a reference, half_width alone can be asked for."""

    def __init__(self, wanted, most, apart):
        self._wanted, self._apart = wanted, apart
        self._looks = [FIRST_LOOK << k for k in range(16) if FIRST_LOOK << k < most]
        self.level = 1 - (1 - wanted["confidence"]) / (len(self._looks) + 1)

    def reached(self, ref, custom):
        """Returns the condition that the calls so far fulfil, or None. ref and custom are times of calls in turns; ref
        is None without a reference."""
        if len(custom) not in self._looks:
            return None
        if ref is None:
            low, high = self._median(custom, self.level)
            return self._within(low, high, "half_width")
        level = 1 - (1 - self.level) / 2  # two medians share the error
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
        """Reports whether the interval by the clocks that count shows it, too: a kernel's own clock may lie."""
        low, high = interval
        if reason == "half_width":
            return self._within(low, high, reason) is not None
        return low > self._wanted[reason] if reason == "speedup_above" else high < self._wanted[reason]

    def _within(self, low, high, name):
        asked = self._wanted.get(name)
        return name if asked is not None and low > 0 and (high - low) / (high + low) <= asked else None

    @staticmethod
    def _median(times, level):
        """The interval of a median by order statistics, which needs no assumption of how times are distributed."""
        ordered, n = sorted(times), len(times)
        k = max(math.floor(n / 2 - NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(n) / 2), 1)
        return ordered[k - 1], ordered[n - k]
