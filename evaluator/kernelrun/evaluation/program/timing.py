"""How long does it take? CUDA-graph replay where the kernel can be captured, events where it
cannot, the wall clock on a CPU; reference and custom in turn, so that drift hits both alike.
"""

import time

import torch

import compare
import contract

WARMUP = 3
RESAMPLES = 1000


class Timed:
    """A kernel with inputs of its own that can be restored, called and timed."""

    def __init__(self, kernel, values, device):
        self.kernel, self.device, self.graph, self.capture_error = kernel, device, None, None
        self.pristine = values
        self.values = compare.copy_values(values)
        self.changed = [i for i, role, _ in kernel.roles() if role in ("inout", "output")]
        self.times = []

    def restore(self):
        for index in self.changed:
            self.values[index].copy_(self.pristine[index])

    def warm(self):
        for _ in range(WARMUP):
            self.restore()
            self.kernel(self.values)
        compare.synchronise(self.device)
        self.changed = [i for i, value in enumerate(self.values) if i in self.changed or self.is_changed(i, value)]

    def is_changed(self, index, value):
        """Whether the kernel writes into a tensor that no contract calls inout or output."""
        return isinstance(value, torch.Tensor) and value.layout == torch.strided and not torch.equal(bits(value), bits(self.pristine[index]))

    def capture(self):
        """Tries to record one call as a CUDA graph; on failure says why and leaves graph None."""
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.kernel(self.values)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.kept = self.kernel(self.values)  # the graph writes into these: they must live
            self.check(graph)
            self.graph = graph
        except Exception as error:  # noqa: BLE001 - whatever the kernel does under capture, events still work
            self.graph, self.capture_error = None, f"{type(error).__name__}: {error}"
            torch.cuda.synchronize()

    def check(self, graph):
        """A replay must write the outputs: work on a stream of the kernel's own is not captured."""
        for tensor in self.kept:
            contract.poison(tensor)
        self.restore_inputs()
        graph.replay()
        torch.cuda.synchronize()
        for index, tensor in enumerate(self.kept):
            if tensor.numel() and torch.equal(bits(tensor), bits(contract.poison(torch.empty_like(tensor)))):
                raise RuntimeError(f"a replay of the captured graph does not write output {index}")

    def restore_inputs(self):
        for index, role, _ in self.kernel.roles():
            if role == "inout":
                self.values[index].copy_(self.pristine[index])

    def launch(self):
        if self.graph is not None:
            self.graph.replay()
        else:
            self.kernel(self.values)


def bits(tensor):
    """The tensor's bytes, which are equal where NaNs are the same NaN."""
    return tensor.contiguous().view(-1).view(torch.uint8)


class Flush:
    """Writes twice the L2 cache, so that every timed call begins cold; on a CPU 64 MB."""

    def __init__(self, device, wanted):
        size = 0
        if wanted:
            size = 64 << 20
            if device != "cpu":
                size = 2 * getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.buffer = torch.empty(size, dtype=torch.int8, device=device) if size else None

    def __call__(self):
        if self.buffer is not None:
            self.buffer.zero_()


def time_gpu(timed, flush, events):
    timed.restore()
    flush()
    start, end = events
    start.record()
    timed.launch()
    end.record()


def time_cpu(timed, flush):
    timed.restore()
    flush()
    began = time.perf_counter()
    timed.launch()
    timed.times.append((time.perf_counter() - began) * 1e3)


def run_gpu(sides, trials, flush):
    """Queues all trials behind each other, so that no launch gap is timed, and reads the clocks at the end."""
    events = [[[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in sides] for _ in range(trials)]
    for pair in events:
        for timed, slot in zip(sides, pair):
            time_gpu(timed, flush, slot)
    torch.cuda.synchronize()
    for pair in events:
        for timed, (start, end) in zip(sides, pair):
            timed.times.append(start.elapsed_time(end))


def measure(kernels, inputs, trials, device, flush_wanted):
    """Times kernels in turn; returns (stats per kernel, method, why not a graph, times per kernel)."""
    sides = [Timed(kernel, values, device) for kernel, values in zip(kernels, inputs)]
    for timed in sides:
        timed.warm()
    flush = Flush(device, flush_wanted)
    if device == "cpu":
        for _ in range(trials):
            for timed in sides:
                time_cpu(timed, flush)
        return [stats(t.times) for t in sides], "wall_clock", None, [t.times for t in sides]
    for timed in sides:
        timed.capture()
    errors = [t.capture_error for t in sides if t.capture_error]
    if errors:  # one method for all, or the speed-up would compare different things
        for timed in sides:
            timed.graph = None
    run_gpu(sides, trials, flush)
    return [stats(t.times) for t in sides], "events" if errors else "cuda_graph", errors[0] if errors else None, [t.times for t in sides]


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
