"""Warpboard's harness for Python tasks: feeds cases to submission.custom_kernel, checks, times.

    python3 eval.py test|benchmark|leaderboard|profile FILE

The task gives reference.py with generate_input(**arguments) and check_implementation(data, output),
which returns (bool, message) or a message that is empty when the output is right. FILE holds one case
per line, "key: value; key: value". What is found out goes as "key: value" lines to the descriptor that
POPCORN_FD names; keys and exit codes are those of KernelBot's protocol.

Works with torch on a GPU and, with neither torch nor GPU, with NumPy.
"""

import ast
import re
import sys
from time import perf_counter_ns

import warpboard_apart
import warpboard_device
from warpboard_answer import BadAnswer
from warpboard_report import EXIT_BAD_SPEC, EXIT_FAILED, EXIT_USAGE, Report, take
from warpboard_stats import Stats, StopRule

_PART = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(.*?)\s*", re.DOTALL)


class Case:
    """One line of the cases file and the arguments in it."""

    def __init__(self, spec):
        self.spec = spec
        self.arguments = {}
        for part in spec.split(";"):
            match = _PART.fullmatch(part)
            if match is None or match[2] == "":
                print(f"invalid case '{spec}': '{part}'", file=sys.stderr)
                sys.exit(EXIT_BAD_SPEC)
            self.arguments[match[1]] = _value(match[2])

    def mix(self, secret):
        """Mixes the run's secret into the seed by Cantor's pairing, as KernelBot's programs do."""
        if isinstance(self.arguments.get("seed"), int):
            a, b = self.arguments["seed"], secret
            self.arguments["seed"] = a + (a + b) * (a + b + 1) // 2

    def next(self):
        """Moves to the next seed: a fresh input of the same shape."""
        if isinstance(self.arguments.get("seed"), int):
            self.arguments["seed"] += 13


def _value(text):
    """Numbers, True, False, None, lists and tuples become what they say; the rest stays text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def read_cases(path, secret):
    with open(path, encoding="utf-8") as file:
        cases = [Case(line) for line in file.read().splitlines() if line.strip()]
    if secret is not None:
        for case in cases:
            case.mix(secret)
    return cases


class Judge:
    """Runs cases and reports them. Calls are the kernel's: in a process apart, or in this one. An answer is
    checked against inputs of which the kernel only had a copy."""

    def __init__(self, report, cases, task, calls, warm_up_ns):
        self.report = report
        self.cases = cases
        self.generate, self.check_implementation = task
        self.calls = calls
        self.warm_up_ns = warm_up_ns

    def check(self, data, output):
        """Returns (right?, message)."""
        result = self.check_implementation(data, output)
        if isinstance(result, tuple):
            good, message = result
            return bool(good), message or ""
        return not result, result or ""

    def new_input(self, case):
        data = self.generate(**case.arguments)
        self.calls.give(data)
        return data

    def checked_call(self, data):
        return self.check(data, self.calls.call())

    def test(self):
        self.report.log("test-count", len(self.cases))
        passed = True
        for index, case in enumerate(self.cases):
            key = f"test.{index}"
            self.report.log(f"{key}.spec", case.spec)
            good, message = self.judged(lambda: self.checked_call(self.new_input(case)))
            if message:
                self.report.log(f"{key}.{'message' if good else 'error'}", message)
            self.report.log(f"{key}.status", "pass" if good else "fail")
            passed = passed and good
        return self.finish(passed)

    @staticmethod
    def judged(call):
        """The call's (right?, message); an answer of a type that none can have is wrong."""
        try:
            return call()
        except BadAnswer as bad:
            return False, str(bad)

    def benchmark(self, ranked):
        """Times every case. Ranked: a fresh input for each repeat, and each answer is checked."""
        rule = StopRule(kernel_ns=30e9 if ranked else 10e9)
        self.report.log("benchmark-count", len(self.cases))
        passed = True
        for index, case in enumerate(self.cases):
            key = f"benchmark.{index}"
            stats = Stats()
            if index == 0:
                self.judged(lambda: self.warm_up(case))
            self.report.log(f"{key}.spec", case.spec)
            good, message = self.judged(lambda: self.measure(case, rule, ranked, stats))
            if good:
                for name, value in stats.lines():
                    self.report.log(f"{key}.{name}", value)
            else:
                self.report.log(f"{key}.error", message)
            self.report.log(f"{key}.status", "pass" if good else "fail")
            passed = passed and good
            if ranked and not good:
                break
        return self.finish(passed)

    def measure(self, case, rule, ranked, stats):
        data = self.new_input(case)
        good, message = self.checked_call(data)
        begin = perf_counter_ns()
        while good:
            if ranked:
                case.next()
                data = self.new_input(case)
            output, duration = self.calls.time()
            stats.add(duration)
            last = rule.done(stats, perf_counter_ns() - begin)
            if ranked or last:
                good, message = self.check(data, output)
            del output
            if last:
                break
        return good, message

    def warm_up(self, case):
        """The first calls of a process pay for loading code and raising clocks."""
        self.new_input(case)
        begin = perf_counter_ns()
        while True:
            self.calls.call()
            if perf_counter_ns() - begin >= self.warm_up_ns:
                return

    def profile(self):
        """Each case once inside a range named custom_kernel, after one call outside of it."""
        self.report.log("benchmark-count", len(self.cases))
        passed = True
        for index, case in enumerate(self.cases):
            key = f"benchmark.{index}"
            self.report.log(f"{key}.spec", case.spec)
            good, message = self.judged(lambda: self.ranged_call(case))
            if not good:
                self.report.log(f"{key}.error", message)
            self.report.log(f"{key}.status", "pass" if good else "fail")
            passed = passed and good
        return self.finish(passed)

    def ranged_call(self, case):
        data = self.new_input(case)
        self.calls.call()
        return self.check(data, self.calls.ranged_call())

    def finish(self, passed):
        self.report.verdict(passed)
        return 0 if passed else EXIT_FAILED


def judge(mode, path, task, calls, warm_up_ns):
    """Judges the submission by its calls and returns the exit code."""
    report = Report()
    seed = take("POPCORN_SEED")
    cases = read_cases(path, None if seed is None else int(seed))
    calls.open()
    stages = Judge(report, cases, task, calls, warm_up_ns)
    if mode == "test":
        return stages.test()
    if mode == "profile":
        return stages.profile()
    return stages.benchmark(ranked=mode == "leaderboard")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("test", "benchmark", "leaderboard", "profile"):
        print("usage: eval.py test|benchmark|leaderboard|profile FILE", file=sys.stderr)
        return EXIT_USAGE
    mode, path = sys.argv[1:]
    from reference import check_implementation, generate_input

    task = generate_input, check_implementation
    device = warpboard_device.choose()
    if device.apart:
        return warpboard_apart.run(device, lambda calls: judge(mode, path, task, calls, device.warm_up_ns))
    return judge(mode, path, task, warpboard_device.Here(device), device.warm_up_ns)


if __name__ == "__main__":
    sys.exit(main())
