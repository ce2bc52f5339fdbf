"""Warpboard's harness for Python tasks of the older form.

reference.py has generate_input(), ref_kernel(input) and check_implementation(custom, reference), which
returns whether they agree; train.py, the submission, has custom_kernel(input). The answer is checked on 10
inputs; then come 10 warm-ups and 100 timed runs on one input, each synchronised. Standard output gets
"score:SECONDS", the mean; the result pipe gets the same in nanoseconds with every run's time.
"""

import sys
from time import perf_counter_ns

from warpboard_report import EXIT_FAILED, Report
from warpboard_stats import Stats

CHECKED_RUNS = 10
WARM_UP_RUNS = 10
TIMED_RUNS = 100


def synchronize():
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()


class Legacy:
    def __init__(self):
        from reference import check_implementation, generate_input, ref_kernel

        self.generate_input, self.ref_kernel, self.check = generate_input, ref_kernel, check_implementation
        from train import custom_kernel  # last: what it puts into the reference's module comes too late

        self.kernel = custom_kernel

    def is_right(self):
        data = self.generate_input()
        expected = self.ref_kernel(data)
        custom = self.kernel(data)
        synchronize()
        return bool(self.check(custom, expected))

    def one_run(self, data):
        synchronize()
        begin = perf_counter_ns()
        self.kernel(data)
        synchronize()
        return perf_counter_ns() - begin

    def time_runs(self):
        data = self.generate_input()
        for _ in range(WARM_UP_RUNS):
            self.one_run(data)
        stats = Stats()
        for _ in range(TIMED_RUNS):
            stats.add(self.one_run(data))
        return stats

    def profile(self):
        data = self.generate_input()
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_available():
            self.kernel(data)
            return
        torch.cuda.nvtx.range_push("custom_kernel")
        self.kernel(data)
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "leaderboard"
    kind = "test" if mode == "test" else "benchmark"
    report = Report()
    report.log(f"{kind}-count", 1)
    report.log(f"{kind}.0.spec", "generate_input()")
    legacy = Legacy()
    right = all(legacy.is_right() for _ in range(CHECKED_RUNS))
    if right and mode == "profile":
        legacy.profile()
    elif right and mode != "test":
        stats = legacy.time_runs()
        right = legacy.is_right()
        if right:
            print(f"score:{stats.mean / 1e9!r}")
            for name, value in stats.lines():
                report.log(f"{kind}.0.{name}", value)
    if not right:
        print("check_implementation failed")
        report.log(f"{kind}.0.error", "check_implementation failed")
    report.log(f"{kind}.0.status", "pass" if right else "fail")
    report.verdict(right)
    return 0 if right else EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
