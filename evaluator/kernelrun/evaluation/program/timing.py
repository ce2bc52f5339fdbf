"""Statistics of the times that the judge's clocks gave, and of two kernels' times in pairs."""

import torch

RESAMPLES = 1000


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
