"""Evaluates a request with several cases: kernels are loaded once; each case has its own inputs, check, and times."""

import math
import time
from typing import Any

import contract
from sides import Inputs, Raised
from stages import OutOfTime, Stages
from trivial import Trivial

# Fields of a case's report that the request's report has if one case has them
SHARED = ("vacuous", "vacuous_reason", "fault")


class Cases(Stages):
    """The stages of a request with several cases. The evaluation ends at the first case that fails the check. As in
    a ranked run of a task, times are computed only after all calls are made and all processes of the kernels have
    ended."""

    def __init__(self, *given):
        super().__init__(*given)
        self.whole, self.reports, self.timed, self.begins = self.report, [], [], time.monotonic()
        self.last = self.ends
        self.late = False  # True if there was no time for the timed calls of a case

    def save(self):
        self.pipe.tell(report=self.summary())

    def go(self):
        """Checks and times all cases. If there is no time for the timed calls of one, further cases are only checked.
        Returns the compiled files that a later run can use, or None."""
        for case in self.request["cases"]:
            if not (self.begin(case) and self.validate()):
                break
            if not self.late and not self.timing(self.make_calls) and not self.late:
                break
        else:
            if not self.late:
                return self.timing(self.read_all)
        self.end()
        return None

    def begin(self, case):
        """Begins a case in the kernels' processes, and reports whether this succeeded."""
        number, now = len(self.reports), time.monotonic()
        self.ends = now + (self.last - now) / (len(self.request["cases"]) - number)
        self.report = {"arguments": case, "correctness": False}
        self.reports.append(self.report)
        try:
            self.inputs = Inputs(self.request, self.clocks.device, self.generator if self.request.get("inputs") else None, case=case)
            self.trivial, self.pairing, self.decision = Trivial(self.tolerance), None, self.make_decision()
            for label, kernel in self.kernels.items():
                kernel.begin(self.inputs.contract(label))
            return True
        except (Raised, contract.ContractError) as error:
            self.report["validation_error"] = str(error)
            self.blame(error)
            self.save()
            return False

    def make_calls(self):
        self.clocks.warm_up()
        try:
            values = self.time_all()
        except OutOfTime:
            self.late = True
            raise
        self.clocks.used()
        self.timed.append((self.report, self.inputs, self.decision, values, self.timed_calls()))
        return True

    def read_all(self):
        """Computes the times of all cases. The reference is also timed alone, after the other kernel has ended."""
        timed = [(calls, values) for *_, values, calls in self.timed]
        archive = self.hand_on()
        alone = [self.time_case_alone(inputs, values, calls.get("ref")) for _, inputs, _, values, calls in self.timed]
        self.end(*timed)
        for (self.report, self.inputs, self.decision, values, calls), of_case in zip(self.timed, alone):
            for label, kernel in self.kernels.items():
                kernel.calls = calls[label]
            self.tell_times(values, of_case)
        self.allow_preparing()
        return archive

    def time_case_alone(self, inputs, values, turns):
        """Returns what time_alone returns, for one of the cases."""
        if len(self.kernels) < 2:
            return []
        self.kernels["custom"].end()
        reference, self.inputs = self.kernels["ref"], inputs
        reference.begin(inputs.contract("ref"))
        reference.call(values["ref"])  # the first call of a case may load or compile
        reference.checked()
        return self.time_alone(values, turns)

    def summary(self):
        """Returns the report of the request: all cases, and geometric means of their times and speedups."""
        found: dict[str, Any] = {**self.whole, "cases": self.reports}
        if not self.reports:
            return found
        found["correctness"] = len(self.reports) == len(self.request["cases"]) and all(report["correctness"] for report in self.reports)
        for number, report in enumerate(self.reports, 1):
            found.update({key: report[key] for key in SHARED if key in report})
            found.update({key: f"Case {number}: {report[key]}" for key in ("validation_error", "profiling_error") if key in report})
            found["remarks"] = found.get("remarks", []) + [text for text in report.pop("remarks", []) if text not in found.get("remarks", [])]
        self.whole["remarks"] = found["remarks"]
        if any("setup_ns" in report for report in self.reports):
            found["setup_ns"] = sum(report.get("setup_ns", 0) for report in self.reports)
        if all("deterministic" in report for report in self.reports):
            found["deterministic"] = all(report["deterministic"] for report in self.reports)
        if not all("runtime_stats" in report for report in self.reports) or not found["correctness"]:
            return found
        found["profiling_method"] = self.reports[0]["profiling_method"]
        found["fresh_inputs"] = min((report["fresh_inputs"] for report in self.reports), key=(False, None, True).index)
        for key in ("runtime_stats", "ref_runtime"):
            if all(key in report for report in self.reports):
                found[key] = {name: mean([report[key][name] for report in self.reports]) for name in self.reports[0][key]}
        if all(report.get("speedup") and report.get("speedup_interval") for report in self.reports):
            found["speedup"] = mean([report["speedup"] for report in self.reports])
            found["speedup_interval"] = [mean([report["speedup_interval"][end] for report in self.reports]) for end in (0, 1)]
        return found


def mean(values):
    """Returns the geometric mean of the values, or 0 if a value is not positive."""
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0
