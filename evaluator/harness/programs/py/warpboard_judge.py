"""The judge of Python tasks: draws inputs, lets the runner make calls on them, checks the answers, and times the calls.

    python3 warpboard_judge.py test|benchmark|leaderboard|profile FILE

The task provides reference.py with generate_input(**arguments) and check_implementation(data, output), which returns
(bool, message) or a message that is empty if the output is right, and may provide reference_fp64(data), the right
answer in double precision. If POPCORN_GPUS has the number of a call's GPUs, generate_input is called for each rank, as
generate_input(rank=..., **arguments), and the other two get lists of all ranks' inputs and outputs. FILE holds one case
per line, "key: value; key: value". The submission is in another process and sandbox (package evaluator/judge); the
report goes as "key: value" lines to the descriptor POPCORN_FD, with keys and exit codes of KernelBot's protocol.

Works with torch on a GPU and, with neither torch nor GPU, with NumPy.
"""

from __future__ import annotations

import os
import secrets
import sys
from time import perf_counter_ns

import warpboard_setup
from warpboard_answer import BadAnswer
from warpboard_calibrator import CALIBRATIONS, Calibrator
from warpboard_calls import Ranks, Runner, TaskFailed
from warpboard_cases import read_cases
from warpboard_clocks import Clocks
from warpboard_layout import NotPassable
from warpboard_limits import CASE_KERNEL_NS, DEVICE_PROCESS_CALLS, HOST_PROCESS_CALLS
from warpboard_regions import HostMemory, Regions
from warpboard_report import EXIT_FAILED, EXIT_REFUSED, EXIT_RUNNER_GONE, EXIT_TASK, EXIT_USAGE, Report
from warpboard_stats import Stats, StopRule
from warpboard_task import Task
from warpboard_wire import RANGE, Door, Refused, RunnerGone, sleep_exactly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from warpboard_calls import Call
    from warpboard_cases import Case
    from warpboard_judge_cuda import JudgeMemory

_CALIBRATIONS_AGAIN = {"host": 5, "cuda": 15}  # number of empty calls in later processes
# on a host few, because flushing its caches takes long
_LEAST_CALLS, _MOST_CALLS = {"host": 3, "cuda": 20}, {"host": 40, "cuda": 100}

# A later process may take _LONGEST_READY seconds, plus _MOST_TIMES_LONGER times the first loading time, to load the
# submission.
_LONGEST_READY, _MOST_TIMES_LONGER = 30, 5
_LEAST_OF_ONE, _MOST_OF_ONE = {"host": 3, "cuda": 10}, {"host": HOST_PROCESS_CALLS, "cuda": DEVICE_PROCESS_CALLS}


class Judge:
    """Judge runs the cases of one stage and reports them."""

    def __init__(self, report: Report, cases: list[Case], task: Task, runners: Runners, calibrator: Calibrator | None,
                 kind: str) -> None:
        self.report, self.cases, self.task = report, cases, task
        self.runners, self.calibrator, self.kind = runners, calibrator, kind
        # In a ranked stage a failure of the checker counts against the submission, because the tests have passed.
        # Otherwise a kernel that detects a slow process could end its run with a failure of the task, which does not
        # count.
        self.ranked = False
        runner = runners.next()
        if runner is None:
            raise RunnerGone
        self.runner = runner
        if calibrator is not None:
            calibrator.use(runners.regions)

    def begin(self, case: Case, key: str) -> None:
        """Begins a case. If the task allows a setup, calls the submission's setup with the shapes of an input that is
        not used again."""
        self.runner.begin_case()
        if not warpboard_setup.allowed():
            return
        asked = [(warpboard_setup.WORD, warpboard_setup.described(self.task.draw(case.fresh())[0]))]
        began = perf_counter_ns()
        try:
            (there,) = self.runner.call(lambda: asked).answer
        except BadAnswer as bad:
            raise Refused(f"The call of setup ended with an answer: {bad}") from bad
        took = perf_counter_ns() - began
        if took > warpboard_setup.LONGEST_NS:
            raise Refused(f"setup(meta) took {took / 1e9:.0f} s, and may take {warpboard_setup.LONGEST_NS / 1e9:.0f} s")
        self.runner.begin_case()
        if there is True or took > warpboard_setup.NOTICED_NS:
            self.report.log(f"{key}.setup", took)

    def call(self, case: Case, fresh: bool, flags: int = 0,
             look: Callable[[Call], None] | None = None) -> tuple[bool, str, Call | None]:
        """Makes one call and checks its answer. Returns (right?, message, call). look is called with a call whose
        answer is right, before its input and answer are dropped."""
        try:
            made = self.runner.call(lambda: self.task.draw(case.fresh() if fresh else case.arguments), flags)
        except BadAnswer as bad:
            return False, str(bad), None
        try:
            good, message = self.task.check(made.data, made.answer)
        except TaskFailed as failure:
            # The checker may also raise for an answer from arrays that were kept; measure then repeats the call.
            if not self.ranked and not self.runner.keeps_host():
                raise
            return False, str(failure), None
        if good and look is not None:
            look(made)
        made.data = made.answer = None  # frees the memory before the next call
        return good, message, made

    def test(self) -> bool:
        """Tests each case with its seed, and some random cases a second time with another seed."""
        self.report.log("test-count", len(self.cases))
        passed = True
        for index, case in enumerate(self.cases):
            key = f"test.{index}"
            self.report.log(f"{key}.spec", case.spec)
            self.begin(case, key)
            good, message, _ = self.call(case, fresh=False, look=lambda made: self.log_numerics(key, made))
            if good and secrets.randbelow(2):
                good, message, _ = self.call(case, fresh=True)
            if message:
                self.report.log(f"{key}.{'message' if good else 'error'}", message)
            self.report.log(f"{key}.status", "pass" if good else "fail")
            passed = passed and good
        self.runners.end()
        return passed

    def log_numerics(self, key: str, made: Call) -> None:
        for field, value in self.task.numerics(made.data, made.answer):
            self.report.log(f"{key}.numerics.{field}", value)

    def benchmark(self, ranked: bool) -> bool:
        """Times every case. A ranked stage does so in each fresh process of the submission."""
        rule = StopRule(kernel_ns=CASE_KERNEL_NS, least=_LEAST_CALLS[self.kind], most=_MOST_CALLS[self.kind])
        if ranked:
            rule = StopRule(kernel_ns=6e9, wall_ns=24e9, least=_LEAST_OF_ONE[self.kind], most=_MOST_OF_ONE[self.kind])
        self.ranked, process = ranked, 0
        self.runners.blame(ranked)
        runner: Ranks | None = self.runner
        while runner is not None:
            self.runner = runner
            if not self.measure_all(rule, _CALIBRATIONS_AGAIN if process else CALIBRATIONS):
                return False
            if not ranked:
                break
            self.report.log("process", process)  # marks the end of the process's report
            process += 1
            runner = self.runners.next()
        if self.calibrator is not None:
            self.calibrator.end()
        return True

    def measure_all(self, rule: StopRule, calibrations: dict[str, int]) -> bool:
        """Times every case with the current runner, on a new input for each call, and checks each answer."""
        self.report.log("benchmark-count", len(self.cases))
        timed = []
        for index, case in enumerate(self.cases):
            key = f"benchmark.{index}"
            self.report.log(f"{key}.spec", case.spec)
            self.begin(case, key)
            good, message, calls = self.measure(case, rule)
            if not good:
                for before in range(index):
                    self.report.log(f"benchmark.{before}.status", "pass")
                self.report.log(f"{key}.error", message)
                self.report.log(f"{key}.status", "fail")
                return False
            timed.append((case, calls))
        self.runners.end()
        assert self.calibrator is not None
        for index, (case, calls) in enumerate(timed):
            key = f"benchmark.{index}"
            constants = self.calibrator.constants(self.task.draw(case.fresh()), calls, calibrations[self.kind])
            for name, value in Clocks(calls, constants).lines():
                self.report.log(f"{key}.{name}", value)
            self.report.log(f"{key}.status", "pass")
        return True

    def measure(self, case: Case, rule: StopRule) -> tuple[bool, str, list[Call]]:
        """Returns (all right?, message, timed calls). The first calls compile, tune, and load, and do not count. Their
        number is random, so that a kernel cannot detect them."""
        calls: list[Call]
        calls, stats, begin = [], Stats(), perf_counter_ns()
        untimed = 2 + secrets.randbelow(3)
        while True:
            good, message, made = self.call(case, fresh=True)
            if not good and self.runner.needs_host():
                calls, stats = [], Stats()
                continue
            if not good or made is None:
                return False, message, calls
            if untimed > 0:
                self.runner.keep_host()
                untimed -= 1
                continue
            calls.append(made)
            stats.add(made.wall)
            if rule.done(stats, perf_counter_ns() - begin):
                return True, "", calls

    def profile(self) -> bool:
        """Calls each case once inside a profiler range named custom_kernel, after one call outside of it."""
        self.report.log("benchmark-count", len(self.cases))
        passed = True
        for index, case in enumerate(self.cases):
            key = f"benchmark.{index}"
            self.report.log(f"{key}.spec", case.spec)
            self.begin(case, key)
            good, message, _ = self.call(case, fresh=True)
            if good:
                good, message, _ = self.call(case, fresh=True, flags=RANGE)
            if not good:
                self.report.log(f"{key}.error", message)
            self.report.log(f"{key}.status", "pass" if good else "fail")
            passed = passed and good
        self.runners.end()
        return passed


class Runners:
    """Runners are the fresh processes of the submission, one after the other, each with one or several ranks. Each
    starts after the end of the previous one, and uses the same shared memory, which is overwritten before."""

    _ranks: Ranks  # set by next, as _number is
    _number: int

    def __init__(self, host: HostMemory, devices: list[JudgeMemory | None]) -> None:
        self._door, self._host, self._devices = Door(), host, devices
        self.regions = [Regions(host, device) for device in devices]
        self._longest: float | None = None  # seconds that later processes may take to load

    def next(self) -> Ranks | None:
        """Returns the ranks of the next process once the submission is loaded, or None if there is none."""
        ranks = []
        for regions, device in zip(self.regions, self._devices):
            following = self._door.next()
            if following is None:
                return None
            regions.wipe()
            self._number, channel, page = following
            ranks.append(Runner(channel, page, regions, self._host, device))
        self._ranks, began = Ranks(ranks), perf_counter_ns()
        self._ranks.ready(self._longest)
        self._longest = self._longest or _LONGEST_READY + _MOST_TIMES_LONGER * (perf_counter_ns() - began) / 1e9
        return self._ranks

    def blame(self, runner: bool) -> None:
        """If runner is true, makes the submission responsible for a device without free memory, even if the judge uses
        most of it."""
        for device in self._devices:
            if device is not None:
                device.blames_runner = runner

    def end(self) -> None:
        """Tells the worker and the current process that it gets no more calls, and waits for its end."""
        self._door.over(self._number)
        self._ranks.end()


def devices_of(ranks: int | None) -> list[JudgeMemory | None]:
    """Returns the judge's side of each rank's device, or None on the host."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return [None] * (ranks or 1)
    from warpboard_judge_cuda import JudgeMemory

    return [JudgeMemory(torch, None if ranks is None else rank) for rank in range(ranks or 1)]


def judge(mode: str, report: Report, make_task: Callable[[int | None], Task], cases: list[Case],
          ranks: int | None) -> bool:
    timed = mode in ("benchmark", "leaderboard")
    calibrator = Calibrator(ranks or 1) if timed else None
    sleep_exactly()
    task = make_task(ranks)
    torch = sys.modules.get("torch")
    kind = "cuda" if torch is not None and torch.cuda.is_available() else "host"
    if calibrator is not None:
        calibrator.start(kind)
    host, devices = HostMemory(), devices_of(ranks)
    runners = Runners(host, devices)
    if calibrator is not None:
        calibrator.connect(host, devices)
    stages = Judge(report, cases, task, runners, calibrator, kind)
    for device in devices:
        if timed and device is not None:
            device.make_current()
            device.warm_up()
    if mode == "test":
        return stages.test()
    if mode == "profile":
        return stages.profile()
    return stages.benchmark(ranked=mode == "leaderboard")


def ranks_asked() -> int | None:
    """Returns the number of GPUs that each call uses, or None for a task without ranks."""
    asked = os.environ.get("POPCORN_GPUS")
    return None if asked is None else int(asked)


def main(make_task: Callable[[int | None], Task] = Task, cases_of: Callable[[str], list[Case]] = read_cases) -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("test", "benchmark", "leaderboard", "profile"):
        print("usage: warpboard_judge.py test|benchmark|leaderboard|profile FILE", file=sys.stderr)
        return EXIT_USAGE
    report = Report()
    try:
        passed = judge(sys.argv[1], report, make_task, cases_of(sys.argv[2]), ranks_asked())
    except RunnerGone:
        return EXIT_RUNNER_GONE
    except Refused as refusal:
        report.log("refused", refusal)
        return EXIT_REFUSED
    except (TaskFailed, NotPassable) as failure:
        report.log("task", f"generate_input made {failure}" if isinstance(failure, NotPassable) else failure)
        if failure.__cause__ is not None:
            sys.excepthook(type(failure.__cause__), failure.__cause__, failure.__cause__.__traceback__)
        return EXIT_TASK
    report.verdict(passed)
    return 0 if passed else EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
