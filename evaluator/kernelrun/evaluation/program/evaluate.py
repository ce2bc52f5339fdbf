"""The judge of evaluations: compiles, checks, and times one kernel, alone or compared with a reference.

    python3 evaluate.py test | reference | record | recall | profile-ref | profile-custom

A process that serves several evaluations runs this file once for each, and keeps the state of timekeeper.py and the
stored references (reusing.py). record runs a reference alone and stores it; recall compares the other kernel with a
stored one.

No code of the request runs in this process. Each kernel has its own process and sandbox (kernel_process.py). If
get_inputs() draws the inputs, it also has its own, because a kernel must not know its inputs before its clock runs. The
judge draws the inputs of contracts itself, holds each call back until everything is queued, checks every answer, and
measures the time, as for tasks (package evaluator/judge). The requester can only choose the question: the reference
defines the correct answers, and get_inputs() the inputs.

Files: ./request.json has the request, ./limit the time limit in seconds, ./reference the key of a stored reference.
Results are written to the descriptor POPCORN_FD, one JSON object per line:

    {"stage": …}         a stage begins
    {"report": …}        everything known so far, so that a crash or a time limit loses nothing
    {"gone": label}      the process of this kernel has ended too early
    {"raised": true}     the custom kernel raised an exception in a timed call
    {"done": true}       the evaluation is complete
    {"compiled": …}      compiled files that a later run can use
    {"references": …}    the stored references
    {"lost": true}       the stored reference is missing, or its inputs are different when they are drawn again
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

SHARE = 0.8  # share of the time limit after which no timed call starts
MOST_REPORT = 4 << 20  # bytes of a report from which the worker would ignore it


class Pipe:
    """Writes results to the worker, one JSON object per line."""

    def __init__(self):
        self._descriptor = int(os.environ["POPCORN_FD"])
        os.set_inheritable(self._descriptor, False)

    def tell(self, **line):
        data = (json.dumps(finite(line), allow_nan=False) + "\n").encode()
        if "report" in line and len(data) > MOST_REPORT:
            raise Refused(f"The report, which repeats the cases, has {len(data) / (1 << 20):.1f} MiB, and {MOST_REPORT >> 20} MiB are the most: send smaller cases.")
        while data:
            data = data[os.write(self._descriptor, data):]


def finite(value):
    """Returns the value with infinities and NaN as strings, because JSON cannot represent them."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def processes(request, mode):
    """Returns (role, label) of each process that the judge expects, in the order of their arrival. A role is kernel
    or inputs."""
    alone = {"reference": "ref", "record": "ref", "recall": "custom"}.get(mode, mode.removeprefix("profile-"))
    labels = [label for label in ("custom", "ref") if request.get(label)] if mode == "test" else [alone]
    inputs = [("inputs", "inputs")] if request.get("inputs") or request.get("init") else []
    return [("kernel", label) for label in labels] + inputs


def meet(request, mode, clocks, door):
    """Receives the processes from the door. Returns (kernels by label, the process that draws inputs or None)."""
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
    """Makes two calls of a kernel for Nsight Compute: one to warm up, and one in the range that it profiles."""
    if stages.generator is not None:
        stages.generator.ready()
    if stages.load():
        stages.set_up()
        values = stages.draw(0)
        for flags in (0, RANGE):
            stages.turn(values, flags)
        stages.end()


def go_through(stages, pipe):
    """Runs all stages of one kernel, or of a kernel and its reference."""
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
    """Runs a reference alone and stores the recording, or that it cannot be reused."""
    stages = reusing.Recording(*given)
    stages.record()
    reusing.kept().keep(key, stages.reference)
    return stages


def recall(key, reference, pipe, given):
    """Compares a kernel with a stored reference."""
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
        return Door().close()  # the kernel's process gets no calls
    clocks = Timekeeper("host" if request["device"] == "CPU" else "cuda", request["l2_flush"], not mode.startswith("profile-"))
    door = Door()
    kernels, generator = meet(request, mode, clocks, door)
    given = request, pipe, kernels, generator, clocks, began + SHARE * limit
    if mode.startswith("profile-"):
        return one_call(Stages(*given))
    clocks.warm_up()  # runs while the processes load their kernels
    if mode in ("test", "reference"):
        stages = go_through((Cases if request.get("cases") else Stages)(*given), pipe)
    else:
        stages = record(key, given) if reference is None else recall(key, reference, pipe, given)
        pipe.tell(references=reusing.kept().told())
    stages.end()
    door.close()
    del stages, kernels, generator, given  # frees the memory of their tensors
    clocks.end()


def main(mode):
    pipe = Pipe()
    try:
        with open("request.json", encoding="utf-8") as file:
            request = json.load(file)
    # The site has already parsed this JSON, but Python's parser differs in some cases
    except (ValueError, RecursionError) as error:
        pipe.tell(refused=f"The request cannot be read: {error}.")
        return EXIT_REFUSED
    with open("limit", encoding="utf-8") as file:
        limit = float(file.read())
    try:
        judge(request, mode, limit, pipe)
    except Gone as gone:
        pipe.tell(gone=gone.args[0])
        return EXIT_RUNNER_GONE
    except Refused as refusal:  # a process has broken the protocol: its results do not count
        pipe.tell(refused=str(refusal))
        return EXIT_REFUSED
    return 0


if __name__ == "__main__":
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    sys.exit(main(sys.argv[1]))
