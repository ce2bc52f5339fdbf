"""The judge of evaluations: compiles, checks and times one kernel, or a kernel beside its reference.

    python3 evaluate.py test | reference | record | recall | profile-ref | profile-custom

A process that stays runs this file once for each evaluation, and keeps what timekeeper.py has set up, and references (reusing.py):
record runs one alone, recall compares the other kernel with it.

No line of the request's source runs here. Each kernel is in a process and sandbox of its own (kernel_process.py), and
so is get_inputs(), where inputs come of it: it knows what the kernels must not know before their clock runs. The judge
draws contracts itself, has every call made by the gate, checks every answer and takes the time, as for tasks (package
evaluator/judge). The requester is trusted with nothing but what is asked for: the reference decides what is right, and
get_inputs() for what.

The request is ./request.json, ./limit the seconds that there are, ./reference the key of a reference that is kept. What is
learned goes to the descriptor POPCORN_FD as one JSON object a line: {"stage": …} when a stage begins, {"report": …} with
everything known so far, so that a crash or a time limit loses nothing, {"gone": label} when that kernel's process has ended too early, {"raised": true} when the custom
kernel raised in a timed call, {"done": true} at the end,
and after it {"compiled": …} with what a later run need not compile, and {"references": …} with those that are kept.
{"lost": true} ends a comparison with one that is not, or no longer fits.
"""

import json
import math
import os
import sys
import time

import reusing
from cases import Cases
from sides import Gone, Lost, Side
from stages import Stages
from timekeeper import Timekeeper
from warpboard_report import EXIT_REFUSED, EXIT_RUNNER_GONE
from warpboard_wire import RANGE, Door, Refused

SHARE = 0.8  # of the time limit, after which no further call is timed


class Pipe:
    """The way to the worker."""

    def __init__(self):
        self._descriptor = int(os.environ["POPCORN_FD"])
        os.set_inheritable(self._descriptor, False)

    def tell(self, **line):
        data = (json.dumps(finite(line), allow_nan=False) + "\n").encode()
        while data:
            data = data[os.write(self._descriptor, data):]


def finite(value):
    """JSON has no infinities and no NaN: they become their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def processes(request, mode):
    """Which processes there are, in the order in which they come: (kernel or inputs, label)."""
    alone = {"reference": "ref", "record": "ref", "recall": "custom"}.get(mode, mode.removeprefix("profile-"))
    labels = [label for label in ("custom", "ref") if request.get(label)] if mode == "test" else [alone]
    inputs = [("inputs", "inputs")] if request.get("inputs") or request.get("init") else []
    return [("kernel", label) for label in labels] + inputs


def meet(request, mode, clocks, door):
    """Returns (kernels by label, the process that draws inputs, None where there is none)."""
    kernels, generator = {}, None
    for role, label in processes(request, mode):
        arrived = door.next()
        if arrived is None:
            raise Gone(label)
        if role == "inputs":
            generator = Side("inputs", door, arrived, *clocks.quiet())
        else:
            kernels[label] = Side(label, door, arrived, *clocks.memory())
    return kernels, generator


def one_call(stages):
    """For Nsight Compute: one warm call, then one inside the range that it listens to."""
    if stages.generator is not None:
        stages.generator.ready()
    if stages.load():
        stages.set_up()
        values = stages.draw(0)
        for flags in (0, RANGE):
            stages.turn(values, flags)
        stages.end()


def go_through(stages, pipe):
    """Goes through all stages of one or two kernels."""
    archive = None
    if stages.load() and "custom" in stages.kernels:
        archive = stages.go()
    else:
        stages.time_reference()
    pipe.tell(done=True)
    if archive is not None:
        pipe.tell(compiled=archive)
    return stages


def record(key, given):
    """Runs a reference alone, and keeps it, or that it cannot be kept."""
    stages = reusing.Recording(*given)
    stages.record()
    reusing.kept().keep(key, stages.reference)
    return stages


def recall(key, reference, pipe, given):
    """Compares a kernel with a reference that is kept."""
    stages = reusing.Recalling(reference, *given)
    try:
        return go_through(stages, pipe)
    except Lost:
        reusing.kept().keep(key, None)
        pipe.tell(lost=True)
        return stages


def judge(request, mode, limit, pipe):
    began, key, reference = time.monotonic(), reusing.key(mode), None
    if mode == "recall" and (reference := reusing.kept().find(key, request["num_trials"])) is None:
        pipe.tell(lost=True, references=reusing.kept().told())
        return Door().close()  # its process has no calls to make
    clocks = Timekeeper("host" if request["device"] == "CPU" else "cuda", request["l2_flush"], not mode.startswith("profile-"))
    door = Door()
    kernels, generator = meet(request, mode, clocks, door)
    given = request, pipe, kernels, generator, clocks, began + SHARE * limit
    if mode.startswith("profile-"):
        return one_call(Stages(*given))
    clocks.warm_up()  # while the kernels' processes load them
    if mode in ("test", "reference"):
        stages = go_through((Cases if request.get("cases") else Stages)(*given), pipe)
    else:
        stages = record(key, given) if reference is None else recall(key, reference, pipe, given)
        pipe.tell(references=reusing.kept().told())
    stages.end()
    door.close()
    clocks.end()


def main(mode):
    pipe = Pipe()
    try:
        with open("request.json", encoding="utf-8") as file:
            request = json.load(file)
    except (ValueError, RecursionError) as error:  # the site read it, and Python reads some things otherwise
        pipe.tell(refused=f"The request cannot be read: {error}.")
        return EXIT_REFUSED
    with open("limit", encoding="utf-8") as file:
        limit = float(file.read())
    try:
        judge(request, mode, limit, pipe)
    except Gone as gone:
        pipe.tell(gone=gone.args[0])
        return EXIT_RUNNER_GONE
    except Refused as refusal:  # after a protocol error nothing from that process counts
        pipe.tell(refused=str(refusal))
        return EXIT_REFUSED
    return 0


if __name__ == "__main__":
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    sys.exit(main(sys.argv[1]))
