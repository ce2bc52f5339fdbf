"""Evaluates one kernel, or compares two: compile, check, time.

usage: evaluate.py MODE [IGNORED]; MODE is `test` for all of it, `compile` for what can be compiled without a
GPU, `profile-ref` or `profile-custom` for one call of that kernel under an NVTX range, for Nsight Compute. The
request is ./request.json. What is learned goes to the descriptor POPCORN_FD as one JSON object a line:
{"stage": …} when a stage begins, {"report": …} with everything known so far, so that a crash or a timeout loses
nothing, {"done": true} at the end, and after it {"compiled": …} with what a later run need not compile.
"""

import json
import math
import os
import sys
import time
import traceback

RANGE = "custom_kernel"  # the NVTX range that Nsight Compute listens to


class Pipe:
    """The way to the worker. The well-known descriptor is closed, so that a stray print finds nothing."""

    def __init__(self):
        known = int(os.environ.pop("POPCORN_FD"))
        self.descriptor = os.dup(known)
        os.set_inheritable(self.descriptor, False)
        os.close(known)

    def tell(self, **line):
        data = (json.dumps(finite(line), allow_nan=False) + "\n").encode()
        while data:
            data = data[os.write(self.descriptor, data):]


def finite(value):
    """JSON has no infinities and no NaN: they become their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


class Run:
    """One request on its way through the stages."""

    def __init__(self, request, pipe):
        import compiled

        self.request, self.pipe = request, pipe
        self.device = "cuda" if request["device"] != "CPU" else "cpu"
        self.caches = compiled.Caches()
        self.report = {"compiled": False, "correctness": False, "compile_seconds": {}}
        self.kernels = {}

    def need_device(self):
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("PyTorch sees no GPU on this machine")

    def compile_alone(self):
        """Compiles what needs no GPU for that, for a run that then finds it compiled."""
        import kernels

        for label in ("custom", "ref"):
            if self.request.get(label):
                kernels.make(self.request[label], label, self.device).precompile()

    def hand_on(self):
        """Sends what was compiled here, for the next run of the same kernels. The result does not depend on it."""
        try:
            if text := self.caches.added():
                self.pipe.tell(compiled=text)
        except Exception:  # noqa: BLE001 - files that user code removed, a full disk
            traceback.print_exc()

    def stage(self, name, **more):
        self.pipe.tell(stage=name, **more)

    def save(self):
        self.pipe.tell(report=self.report)

    def compile(self, label, code):
        """Compiles one kernel; on failure records whose fault it is and returns False."""
        import contract
        import kernels

        self.stage("compiling", kernel=label)
        began = time.perf_counter()
        try:
            kernel = kernels.make(code, label, self.device)
            kernel.compile()
            if kernel.io is not None:
                kernel.inputs(0)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything
            key = "compilation_error" if label == "custom" else "ref_compilation_error"
            plain = isinstance(error, (kernels.CompileError, contract.ContractError))
            self.report[key] = "Compilation error:\n" + (str(error) if plain else own_traceback())
            return False
        finally:
            self.report["compile_seconds"][label] = time.perf_counter() - began
        self.kernels[label] = kernel
        return True

    def compile_all(self):
        custom = self.compile("custom", self.request["custom"])
        self.report["compiled"] = custom
        self.save()
        ref = self.request.get("ref")
        if ref is not None and not self.compile("ref", ref):
            if custom:
                self.report["validation_error"] = "Skipped due to compilation failure"
            custom = False
        self.save()
        return custom

    def validate(self):
        import compare
        import contract

        self.stage("validating")
        try:
            if "ref" in self.kernels:
                compare.compare_trials(self.kernels["ref"], self.kernels["custom"], self.device,
                                       float(self.request["atol"]), float(self.request["rtol"]), self.report)
            else:
                compare.run_trials(self.kernels["custom"], self.device, self.report)
            self.report["correctness"] = True
        except (compare.Mismatch, contract.ContractError) as error:
            self.report["validation_error"] = str(error)
        except (Exception, SystemExit):  # noqa: BLE001
            trial = self.report.get("trials_begun", 1)
            self.report["validation_error"] = f"Trial {trial} failed:\n" + own_traceback()
        self.save()
        return self.report["correctness"]

    def inputs(self):
        import compare

        if "ref" in self.kernels:
            return compare.paired_inputs(self.kernels["ref"], self.kernels["custom"], 0)
        return (self.kernels["custom"].inputs(0),)

    def profile(self):
        import timing

        self.stage("profiling")
        sides = [self.kernels[label] for label in ("ref", "custom") if label in self.kernels]
        try:
            found, method, why, times = timing.measure(sides, self.inputs(), self.request["num_trials"], self.device, self.request["l2_flush"])
        except (Exception, SystemExit):  # noqa: BLE001
            self.report["profiling_error"] = "Profiling failed:\n" + own_traceback()
            self.save()
            return
        self.report.update(profiling_method=method, runtime_stats=found[-1], times=times[-1])
        if why:
            self.report["graph_error"] = why
        if len(sides) == 2:
            self.report["ref_runtime"] = found[0]
            self.report["speedup"], self.report["speedup_interval"] = timing.speedup(times[0], times[1])
        self.save()

    def one_call(self, label):
        """For Nsight Compute: one warm call, then one call inside the range that it listens to."""
        import torch

        kernel = self.kernels[label]
        values = self.inputs()[-1 if label == "custom" else 0]
        kernel(values)
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_push(RANGE)
        kernel(values)
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def own_traceback():
    """The traceback without this program's own frames: it begins in the user's source. Where it never came
    there, as with a syntax error, the error stands alone, and all frames go to stderr."""
    kind, error, frames = sys.exc_info()
    while frames is not None and not frames.tb_frame.f_code.co_filename.endswith("_kernel.py"):
        frames = frames.tb_next
    if frames is None:
        traceback.print_exc()
        return "".join(traceback.format_exception_only(kind, error))
    return "".join(traceback.format_exception(kind, error, frames))


def main(mode):
    pipe = Pipe()
    with open("request.json", encoding="utf-8") as file:
        run = Run(json.load(file), pipe)
    if mode == "compile":
        run.compile_alone()
        run.hand_on()
        return
    run.need_device()
    if run.compile_all():
        if mode.startswith("profile-"):
            run.one_call(mode.removeprefix("profile-"))
        elif run.validate():
            run.profile()
    pipe.tell(done=True)
    if mode == "test":
        run.hand_on()


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main(sys.argv[1])
