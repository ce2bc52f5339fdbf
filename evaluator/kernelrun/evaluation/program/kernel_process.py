"""One of the processes beside the judge: it has the source of a kernel, and makes the calls that the judge asks for.

    python3 kernel_process.py kernel LABEL     loads the kernel, for calls that are timed
    python3 kernel_process.py inputs LABEL     loads its source for get_inputs() alone, and is never timed
    python3 kernel_process.py compile LABEL    compiles the kernel without a GPU, and sends what came of it

Nothing here is a wall: the kernel may change all of it, and gains nothing by that (see evaluate.py). What loading
gave is said on the page before the first call; the answer of a call is [what it gave] or ("raised", text). The first has no text of
its own: the judge would have to read that before it could copy the answer.
./kernel.json has the kernel and the device. Nothing of the other kernel is here: this one could run it instead.
"""

import json
import os
import sys
import time
import traceback

import torch

import compiled
import contract
import kernels
import seeding
from warpboard_runner import choose_cuda, serve
from warpboard_wire import PAGE_FD, Channel, Page, RunnerGone

MOST_TEXT = 32 << 10  # characters of what is said; the page has room for more


class Served:
    """What the judge may ask a process for."""

    def __init__(self, kernel, caches):
        self.kernel, self.caches = kernel, caches

    def __call__(self, asked):
        what, *rest = asked
        try:
            return [getattr(self, what)(*rest)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything
            return "raised", said(error)

    def call(self, values):
        """The outputs of one call of the kernel, as plain tensors."""
        outputs = self.kernel(values)
        for tensor in outputs:
            if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
                raise contract.ContractError(f"The kernel returned a {type(tensor).__name__} of layout {tensor.layout}: outputs must be dense tensors of torch's own type")
        return outputs

    def draw(self, secret):
        """What get_inputs() gives, in trial 0 without a secret; tensors in this machine's memory, wherever they were made."""
        seeding.seed(42) if secret is None else seeding.draw_from(secret)
        return [on_host(value) for value in self.kernel.module.get_inputs()]

    def compiled(self):
        """The text of what was compiled here and need not be again, as a tensor of its bytes; or None."""
        text = self.caches.added()
        return None if text is None else torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def on_host(value):
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if type(value) in (list, tuple):
        return type(value)(on_host(item) for item in value)
    if type(value) is dict:
        return {key: on_host(item) for key, item in value.items()}
    return value


def said(error):
    """What a person is told of an error: plain sentences of ours, and tracebacks of the user's code."""
    plain = isinstance(error, (kernels.CompileError, contract.ContractError))
    return (str(error) if plain else own_traceback())[-MOST_TEXT:]


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


def load(code, device, role, label):
    """Returns (what serves the calls, None where nothing can be; what the judge is told of it)."""
    began, error, served = time.perf_counter(), None, None
    try:
        caches = compiled.Caches(label)
        kernel = kernels.make(code, label, device)
        if role == "inputs":
            kernel.module = kernels.load_module(kernel.source, label)
            if not hasattr(kernel.module, "get_inputs"):
                raise kernels.CompileError("get_inputs() is not defined in the source")
        else:
            kernel.compile()
        served = Served(kernel, caches)
    except (Exception, SystemExit) as raised:  # noqa: BLE001
        error = said(raised)
    return served, {"error": error, "seconds": time.perf_counter() - began}


def compile_alone(code, device, label):
    """Compiles what needs no GPU for that, for a run that then finds it compiled."""
    pipe = int(os.environ.pop("POPCORN_FD"))
    caches = compiled.Caches(label)
    kernels.make(code, label, device).precompile()
    if text := caches.added():
        with open(pipe, "w", encoding="utf-8") as file:
            json.dump({"compiled": {label: text}}, file)
            file.write("\n")


def main(role, label):
    with open("kernel.json", encoding="utf-8") as file:
        given = json.load(file)
    code, device = given["kernel"], "cpu" if given["device"] == "CPU" else "cuda"
    if role == "compile":
        return compile_alone(code, device, label)
    channel, page = Channel.inherited(), Page(PAGE_FD)
    os.close(PAGE_FD)
    served, loaded = load(code, device, role, label)
    page.describe(json.dumps(loaded).encode()[: MOST_TEXT * 6])
    try:
        serve(channel, page, served, choose_cuda(page) if served is not None and role == "kernel" else None)
    except RunnerGone:
        pass  # the judge has ended, and says itself why
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.exit(main(*sys.argv[1:3]))
