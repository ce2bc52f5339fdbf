"""The stages of an evaluation in the judge: load, check, and time. Results are reported after each stage, so that a
crash or a time limit loses nothing.
"""

import contextlib
import functools
import math
import secrets
import time
from typing import Any

import compare
import contract
import inline
import outputs
import packing
import timing
from deciding import Decision
from sides import Gone, Inputs, Lost, Raised, secret_of
from trivial import Trivial
from warpboard_calls import TaskFailed
from warpboard_setup import LONGEST_NS
from warpboard_stats import quantile
from warpboard_wire import Refused

TRIALS = 2  # trials of the check, which precedes the timed calls
LEAST_TIMED = 3
# Timed calls of each kernel that suffice to show which clock to trust, by kind of device
LEAST_CLOCKED = {"host": 0, "cuda": 20}
CLOCKING = 0.3  # seconds after the first timed call, after which no more calls than requested are made
MOST_REPEATED = 1 << 30  # larger answers, in bytes, are not tested for determinism
# Longest draw during a call, in seconds; a kernel's process may take twice as long to queue its work
MOST_DRAWING = 0.005
PAUSE = 0.005  # seconds without a call, after which a device needs up to 20 µs more to begin the next one
ALONE = 10  # most calls of the reference after the other kernel has ended
# Share of disturbed calls from which a kernel's times are rejected: half of the calls determine the median
MOST_DISTURBED = 0.5
NS_PER_MS = 1e6


class OutOfTime(Exception):
    """The evaluation has used so much of its time limit that no calls can be timed."""


class Disturbed(Exception):
    """The device did other work between the calls: the other kernel's, or that of another program."""


class Stages:
    """The evaluation of one request: its kernels are loaded, checked, and timed."""

    draws_ahead = True  # True if the inputs of the next call may be drawn during a call

    def __init__(self, request, pipe, kernels, generator, clocks, ends):
        self.request, self.pipe, self.kernels, self.generator = request, pipe, kernels, generator
        self.clocks, self.ends = clocks, ends
        self.inputs = Inputs(request, clocks.device, generator if request.get("inputs") else None)
        self.compared = "ref" in kernels  # True if answers are compared with a reference's
        self.tolerance = compare.tolerance_of(request)
        self.trivial = Trivial(self.tolerance)
        self.pairing: Any = None
        self.decision = self.make_decision()
        self.ready = set()  # labels of the kernels that were loaded without error
        self.ahead: Any = None  # inputs that were already drawn for the next call, or None
        self.drawing = math.inf  # duration of the last draw in seconds
        self.waking = 0.0  # duration in seconds of the last calls by wake(), which makes none after a shorter pause
        self.report: dict[str, Any] = {"compiled": False, "correctness": False, "compile_seconds": {}}

    def make_decision(self):
        wanted = self.request.get("stop_when")
        return Decision(wanted, self.request["num_trials"], self.apart) if wanted else None

    def stage(self, name, **more):
        self.pipe.tell(stage=name, **more)

    def save(self):
        self.pipe.tell(report=self.report)

    def blame(self, error):
        """Records that the reference failed, or get_inputs() of its source. The report then says nothing about the
        other kernel."""
        whose = getattr(error, "label", "ref" if isinstance(error, compare.BadReference) else None)
        if self.compared and "ref" in (whose, self.request.get("inputs") if whose == "inputs" else None):
            self.report["fault"] = "reference"

    def remark(self, text):
        if text not in self.report.setdefault("remarks", []):
            self.report["remarks"].append(text)

    def load(self):
        """Waits until all kernels are loaded and all processes of earlier evaluations have ended, and reports
        loading errors. Returns whether all kernels were loaded."""
        if self.request.get("init") and "custom" in self.kernels:
            self.stage("compiling", kernel="ref")
            self.kernels["custom"].send_init(*self.init_inputs())
        good = {label: self.load_one(label) for label in ("custom", "ref") if label in self.kernels}
        if good.get("custom") and not good.get("ref", True):
            self.report["validation_error"] = "Skipped due to compilation failure"
        self.save()
        self.ready = {label for label, loaded in good.items() if loaded}
        self.clocks.wait_alone()
        return all(good.values())

    def init_inputs(self):
        """Returns (the result of the reference's get_init_inputs() or None, the reason if it is missing or None)."""
        why = self.generator.ready()[0]
        try:
            return (None, why) if why else (packing.unpack(self.generator.ask("draw_init").answer, "cpu"), None)
        except (Raised, RuntimeError) as error:  # torch raises RuntimeError for too little memory
            return None, str(error)

    def load_one(self, label):
        self.stage("compiling", kernel=label)
        why, self.report["compile_seconds"][label] = self.kernels[label].ready()
        try:
            if why is None and self.request[label].get("io") is not None:
                contract.materialise(self.request[label]["io"], None, self.clocks.device)
        except contract.ContractError as error:
            why = str(error)
        if why is not None:
            self.report["compilation_error" if label == "custom" else "ref_compilation_error"] = "Compilation error:\n" + why
            if label == "ref":
                self.report["fault"] = "reference"
        if label == "custom":
            self.report["compiled"] = why is None
            self.save()
        return why is None

    def draw(self, trial):
        """Returns the inputs of a trial by label."""
        return self.inputs.draw(trial, secret_of(trial))

    def draw_ahead(self, trial, values):
        """Draws the inputs of a trial while a call on `values` is queued, unless this takes much memory or time.
        Ignores errors: draw_next then draws again."""
        if self.ahead is None and self.drawing < MOST_DRAWING and packing.size(values) <= self.clocks.spare_bytes():
            with contextlib.suppress(Exception):
                self.ahead = self.timed_draw(trial)

    def draw_next(self, trial):
        """Returns the inputs of a trial by label, which draw_ahead may have drawn already."""
        ahead, self.ahead = self.ahead, None
        return self.timed_draw(trial) if ahead is None else ahead

    def timed_draw(self, trial):
        began = time.monotonic()
        values = self.draw(trial)
        self.drawing = time.monotonic() - began
        return values

    def turn(self, values, flags=0, first="ref", moved=False, during=None):
        """Makes one call of each kernel on the same inputs, first that of the label `first`. Returns the calls by
        label. during() is called while the first kernel's process queues its work."""
        labels = sorted(self.kernels, key=lambda label: label != first)
        return {label: self.kernels[label].call(values[label], flags, moved, during if label == labels[0] else None) for label in labels}

    def wake(self, pause, last):
        """Calls each kernel on the inputs of the last turn after a pause, and drops the answers. A process that has
        slept takes about 100 µs more to queue its work, so the first of two kernels would seem to be slower. New
        inputs are not used: no kernel may see an input before the call that counts."""
        if self.clocks.kind == "host" or last is None or pause < max(PAUSE, self.waking):
            return
        began = time.monotonic()
        for call in self.turn(last).values():
            call.answer = None
        self.waking = time.monotonic() - began

    def differences(self, made, values=None):
        """Returns the differences between the outputs of one turn, and drops the outputs. In a trial of the check,
        values are its inputs; the forms of the outputs are then compared, too."""
        try:
            if len(made) < 2:
                return True, 0.0, 0.0, None
            if values is not None:
                self.pairing = outputs.pair(self.kernels["ref"].form, self.kernels["custom"].form)
            expected, actual = made["ref"].answer, self.pairing.sort(made["custom"].answer)
            if values is not None:
                self.bind(self.pairing.ref, expected)
            compare.check_form(expected, actual)
            close, *found, first = compare.differences(expected, actual, self.tolerance)
            if values is not None and close:
                self.trivial.see(expected, values["ref"])
            return close, *found, self.named(first)
        finally:
            for call in made.values():
                call.answer = None

    def bind(self, form, expected):
        """Assigns each output of the reference its tolerance."""
        self.tolerance = self.tolerance.bind([form.key(place) for place in range(len(expected))], [tensor.dtype for tensor in expected])
        self.trivial.bind(self.tolerance)

    def validate(self):
        self.stage("validating")
        self.report.update(total_trials=TRIALS, trials_passed=0)
        try:
            self.wait_inputs()
            self.set_up()
            self.try_all()
            self.report["correctness"] = True
        except (Gone, Refused, Lost):
            raise
        except Exception as error:  # noqa: BLE001 - torch also raises errors, such as for dtypes that it cannot compare
            plain = isinstance(error, (compare.Mismatch, contract.ContractError)) or "trials_begun" not in self.report
            self.report["validation_error"] = str(error) if plain else f"Trial {self.report['trials_begun']} failed:\n{error}"
            self.blame(error)
            if sentence := inline.remark(str(error)):
                self.remark(sentence)
        self.save()
        return self.report["correctness"]

    def set_up(self):
        """Calls the custom kernel's setup, before any of its inputs is drawn."""
        if not self.request.get("setup") or "custom" not in self.kernels:
            return
        if took := self.kernels["custom"].setup(self.inputs.meta("custom")):
            self.report["setup_ns"] = took
            if took > LONGEST_NS:
                raise Raised(f"setup(meta) took {took / 1e9:.0f} s, and may take {LONGEST_NS / 1e9:.0f} s", "custom")

    def wait_inputs(self):
        """Waits until the process that draws the inputs has loaded its source. Raises Raised if this failed."""
        if self.generator is not None and (why := self.generator.ready()[0]) is not None and self.request.get("inputs"):
            raise Raised("Input selection failed:\n" + why, "inputs")

    def try_all(self):
        """Makes all trials of the check, also after one that failed. Raises Mismatch if a kernel's answer differs
        from the reference's."""
        passed, worst, mean, first = 0, 0.0, 0.0, None
        for trial in range(TRIALS):
            self.report["trials_begun"] = trial + 1
            values = self.draw(trial)
            # A kernel that has kept pointers, such as in a captured graph, then reads wrong inputs
            moved = trial % 2 == 1
            close, largest, average, wrong = self.differences(self.turn(values, moved=moved), values)
            if moved and not close and passed == trial:
                self.remark("The inputs of the second trial lie at other addresses than those of the first. A kernel that keeps pointers, or replays a "
                            "captured graph without copying its inputs, is wrong there.")
            passed, worst, mean, first = passed + close, max(worst, largest), max(mean, average), first or wrong
            self.report["trials_passed"] = passed
            if self.compared:
                self.report.update(max_difference=worst, avg_difference=mean)
        if passed < TRIALS:
            self.mismatch(f"Trials passed: {passed}/{TRIALS}", worst, mean, first)
        for kernel in self.kernels.values():
            kernel.checked()
        self.repeat(values)
        self.tell_check()

    def repeat(self, values):
        """Calls the custom kernel twice with the same inputs, and reports whether the answers are identical in every
        bit. Skips large answers, because the first one is kept in memory."""
        if "custom" not in self.kernels:
            return
        try:
            kept = self.kernels["custom"].call(values["custom"]).answer
            if packing.size(kept) > MOST_REPEATED:
                return
            kept = [tensor.clone() for tensor in kept]
            again = self.kernels["custom"].call(values["custom"]).answer
        except Raised:  # the kernel raised an error when it got the same inputs again
            self.report["deterministic"] = False
            return
        self.report["deterministic"] = len(kept) == len(again) and all(map(compare.equal, kept, again))

    def named(self, first):
        """Returns the first wrong element with the name of its output, if it has one."""
        name = first and self.pairing.ref.name(first["output"])
        return {**first, "name": name} if name else first

    def tell_check(self):
        """Reports whether answers that compute nothing would pass the check, and how outputs were compared."""
        if self.pairing is None:
            return
        why, single = self.trivial.reasons(self.pairing.ref.label)
        if why:
            self.report.update(vacuous=True, vacuous_reason=why)
        for sentence in single:
            self.remark(sentence)
        if self.pairing.by_place:
            self.remark("Only one of the kernels gives names to its outputs: they were compared in their order.")
        if self.trivial.exact:
            self.remark("Integers and booleans were compared exactly. An atol of 1 or more is a tolerance for them, too.")

    def mismatch(self, which, worst, mean, first):
        self.report["first_mismatch"] = first
        raise compare.Mismatch(
            f"Numerical outputs don't match within tolerance. {which}. Max difference: {worst:.6e}, "
            f"Avg difference: {mean:.6e}. Tolerance: {self.tolerance.output(first['output'] if first else 0)}"
        )

    def go(self):
        """Checks and times the kernels. Returns the compiled files that a later run can use, or None."""
        return self.timing(self.profile) if self.validate() else None

    def profile(self):
        """Times the kernels, which take turns. Each turn has fresh inputs, and each answer is checked."""
        self.clocks.warm_up()
        values = self.time_all()
        timed = self.timed_calls(), values
        self.clocks.used()
        archive = self.hand_on()
        alone = self.time_alone(values, self.calls("ref"))
        self.end(timed)
        self.tell_times(values, alone)
        self.allow_preparing()
        return archive

    def timing(self, part):
        """Runs one step of the timing, and reports the reason if it fails. Returns the step's result, or None."""
        self.stage("profiling")
        made = None
        try:
            made = part()
        except (Gone, Refused, Lost, TaskFailed):
            raise
        except (compare.Mismatch, contract.ContractError) as error:
            self.report.update(correctness=False, validation_error=str(error))
            self.blame(error)
        except Exception as error:  # noqa: BLE001 - torch also raises errors, such as for too little memory
            self.blame(error)
            if isinstance(error, Raised) and "fault" not in self.report:
                self.pipe.tell(raised=True)
            self.report["profiling_error"] = f"Profiling failed:\n{error}"
        self.save()
        return made

    def time_reference(self):
        """Times the reference if it is the only kernel that was loaded. If this fails, the report does not change."""
        if self.ready != {"ref"}:
            return
        if "custom" in self.kernels:
            self.kernels.pop("custom").end()
        self.decision = None
        try:
            self.wait_inputs()
            for trial in range(TRIALS):
                self.turn(self.draw(trial))
            self.kernels["ref"].checked()
            self.clocks.warm_up()
            values = self.time_all()
            self.end((self.timed_calls(), values))
            self.tell_reference(self.read(values)["ref"])
        except (Gone, Refused, Lost, TaskFailed):
            raise
        except Exception:  # noqa: BLE001 - such as a contract that is invalid, or too little memory
            return
        self.save()

    def tell_reference(self, clock):
        self.report["ref_runtime"] = timing.stats([ns / NS_PER_MS for ns in clock.stats.times])

    def time_all(self):
        """Makes the timed calls, and returns the smallest inputs, with which the constants of the clocks are measured:
        larger ones take longer to write. The first turns are not timed, but kernels cannot recognize them. If few calls
        were requested, more are made, because few calls do not show which clock to trust."""
        untimed, wanted, number = self.untimed(), self.request["num_trials"], 0
        began: Any = None
        ended = values = None
        smallest: Any = None
        while (timed := len(self.kernels[self.leading()].calls)) < self.most_calls():
            if timed >= wanted and time.monotonic() - began > CLOCKING:
                break
            if time.monotonic() > self.ends:
                if timed < LEAST_TIMED:
                    raise OutOfTime("The time limit leaves no room for timed calls: ask for a longer timeout.")
                break
            number += 1
            last, values = values, self.draw_next(TRIALS + number)
            if smallest is None or packing.size(values) <= packing.size(smallest):
                smallest = values
            self.wake(time.monotonic() - (ended or 0.0), last)
            last = None  # frees its memory
            ahead = self.draws_ahead and self.clocks.kind == "cuda" and number < untimed + self.most_calls()
            # The order is random: a kernel that consists of many small ones takes 3 % longer if it comes first.
            made = self.turn(values, first=secrets.choice(("ref", "custom")),
                             during=functools.partial(self.draw_ahead, TRIALS + number + 1, values) if ahead else None)
            ended = time.monotonic()
            close, largest, average, wrong = self.differences(made)
            if not close:
                self.mismatch(f"Call {number} of those that are timed was wrong", largest, average, wrong)
            # A repeated call does not count: its process already had the input, and may have computed the answer
            if number > untimed and not any(call.again for call in made.values()):
                began = began or time.monotonic()
                for label, call in made.items():
                    self.kernels[label].calls.append(call)
                if self.decided():
                    break
        self.ahead = None
        return smallest

    def leading(self):
        """Returns the label of the kernel whose calls are counted."""
        return "custom" if "custom" in self.kernels else "ref"

    def untimed(self):
        return 2 + secrets.randbelow(3)

    def most_calls(self):
        return max(self.request["num_trials"], LEAST_CLOCKED[self.clocks.kind])

    def apart(self, *medians, waits=False):
        """Returns the relative error that the ratio of two medians (in ms) can have, however many calls are made."""
        return timing.apart(*medians, waits=waits) if self.clocks.kind == "cuda" else 0.0

    def calls(self, label):
        """Returns the timed calls of a kernel, or None if there is no kernel with this label."""
        return self.kernels[label].calls if label in self.kernels else None

    def timed_calls(self):
        """Returns the timed calls of all kernels that have a process, by label."""
        return {label: kernel.calls for label, kernel in self.kernels.items()}

    def decided(self):
        """Reports whether the calls so far show the result that stop_when requests. It uses the kernels' own clocks,
        because the constants of the judge's clocks are not measured yet. A kernel that forges its clock can end its
        timing early, but gains nothing: the times that count are computed as usual."""
        if self.decision is None:
            return False
        ref, custom = (calls and [call.event / NS_PER_MS for call in calls] for calls in map(self.calls, ("ref", "custom")))
        if (reason := self.decision.reached(ref, custom)) is None:
            return False
        self.report["stopped"] = {"reason": reason, "calls": len(custom)}
        return True

    def allow_preparing(self):
        """Tells the worker that nothing is left to measure in this stage, so that it may prepare processes for later
        evaluations. They use the device, so that an H200 comes to calls 145 µs late, or more. This evaluation's processes
        should end first: for 0.1 s, the driver makes them wait for the new ones."""
        self.pipe.tell(may_prepare=True)

    def knows(self, *timed):
        """Reports whether the constants for all these calls are known."""
        return all(self.clocks.knows(calls[label], values[label]) for calls, values in timed for label in calls)

    def time_alone(self, values, turns):
        """Returns calls of the reference after the other kernel has ended, because that may have slowed down the
        reference in `turns`, the calls in which the two took turns. Their inputs are `values`. If the reference was
        slower in turns, the cause may be that other inputs take longer, so the calls are made again, each with new
        inputs."""
        if len(self.kernels) < 2:
            return []
        self.kernels["custom"].end()
        alone = self.calls_alone(lambda: values)
        if timing.slower(turns, alone, self.clocks.kind):
            alone = self.calls_alone(lambda: self.draw(TRIALS))
        return alone

    def calls_alone(self, draw):
        """Makes calls of the reference on inputs from draw."""
        alone: list[Any] = []
        ends = time.monotonic() + CLOCKING
        while not alone or (len(alone) < ALONE and time.monotonic() < min(ends, self.ends)):
            alone.append(self.kernels["ref"].call(draw()["ref"]))
            alone[-1].answer = None
        return alone

    def hand_on(self):
        """Returns the compiled files that a later run of the same kernels can use, by label, or None. They do not
        affect the result."""
        return {label: text for label, kernel in self.kernels.items() if (text := kernel.compiled())} or None

    def end(self, *timed):
        """Ends all processes. `timed` are pairs of calls and inputs, both by label. It waits for the processes,
        unless the constants for all these calls are known and the device has enough free memory for the next
        evaluation."""
        sides = [side for side in [*self.kernels.values(), self.generator] if side is not None]
        for side in sides:
            side.dismiss()
        wait = not (self.clocks.has_room() and self.knows(*timed))
        for side in sides:
            side.end(wait)

    def read(self, values):
        """Returns the clocks of the kernels, by label. The reference is read first, because the delays that its
        clocks show are also allowed to the other kernel."""
        read: dict[str, Any] = {}
        for label in sorted(self.kernels, reverse=True):
            kernel = self.kernels[label]
            read[label] = self.clocks.read(kernel.calls, values[label], kernel.regions, self.inputs.partly_known,
                                           label == "ref", read.get("ref"))
        return read

    def tell_times(self, values, alone):
        read = self.read(values)
        if "ref" in read:
            undisturbed(read, alone)
        times = {label: [ns / NS_PER_MS for ns in clock.stats.times] for label, clock in read.items()}
        self.report.update(
            profiling_method="wall_clock" if self.clocks.kind == "host" else "events", fresh_inputs=self.inputs.fresh,
            runtime_stats=timing.stats(times["custom"]), times=times["custom"][: self.request["num_trials"]], clocks={label: told(clock) for label, clock in read.items()},
        )
        if self.decision is not None:
            self.report["confidence"] = self.decision.level
        if "ref" in times:
            self.tell_reference(read["ref"])
            of_ref, of_custom = ([ns / NS_PER_MS for ns in read[label].errors(alone)] for label in ("ref", "custom"))
            medians = (quantile(times[label], 0.5) for label in ("ref", "custom"))
            waits = any(clock.waits() for clock in read.values())
            self.report["speedup"], self.report["speedup_interval"] = timing.speedup(
                times["ref"], times["custom"], of_ref, of_custom, self.apart(*medians, waits=waits), self.decision.level if self.decision else 0.95, "ref" in self.kernels)
            if "stopped" in self.report and not self.decision.holds(self.report["stopped"]["reason"], self.report["speedup_interval"] or (0.0, math.inf)):
                self.report["stopped"]["reason"] = "not confirmed"


def undisturbed(read, alone):
    """Raises Disturbed if the times of the kernels that took turns contradict other measurements. alone are calls of
    the reference after the other kernel had ended."""
    if any(clock.disturbed >= MOST_DISTURBED for clock in read.values()) or alone and read["ref"].slower_than(alone):
        raise Disturbed("The device was busy between the calls: a kernel went on working while the other one was timed, or "
                        "something else did. Neither time would be its own.")
    if read["ref"].hindered():
        raise Disturbed(f"The judge saw the reference work for {max(read['ref'].excess()) / 1e3:.0f} µs longer than its own clock says. Something else had the device meanwhile, or the "
                        "reference works on a stream that nothing joins, and is no measure for another kernel.")


def told(clock):
    """Returns the medians of a kernel's three clocks in ms, the name of the one that counts, and the tolerance in
    ms."""
    numbers = {name: quantile(values, 0.5) / NS_PER_MS for name, values in (("event", clock.events), ("wall", clock.walls), ("snapshot", clock.snapshots))}
    return {"counts": clock.clock, **numbers, "tolerance": clock.tolerance / NS_PER_MS}
