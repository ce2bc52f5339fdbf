"""A process of the judge's: it contains the source of one kernel, and makes the calls that the judge requests.

    python3 kernel_process.py kernel LABEL     loads the kernel, for calls that are timed
    python3 kernel_process.py inputs LABEL     loads its source for get_inputs() alone, and is never timed
    python3 kernel_process.py compile LABEL    compiles the kernel without a GPU, and sends the compiled files

This program is no security boundary: the kernel can change all of it, and gains nothing by that (see evaluate.py).
Before the first call, the process writes to the page whether loading succeeded. The answer to a call is [result] or
("raised", text). Results of timed calls contain no text, because the judge would have to read it before it could copy
the answer.

A process may be started before its request arrives (warpboard_prepared.py); it then calls prepare(). ./kernel.json has
the kernel and the device. The process has no file of the other kernel, which this one could run instead.
"""

import contextlib
import ctypes
import json
import os
import pickle
import sys
import time
import traceback

import torch

import compiled
import contract
import kernels
import outputs
import packing
import seeding
from warpboard_runner import choose_cuda, serve
from warpboard_wire import PAGE_FD, PAGE_SIZE, Channel, Page, RunnerGone, shared_memory

MOST_TEXT = 32 << 10  # longest text about an error, in characters; it fits in the page
_CUDA_R_32F, _CUDA_R_16BF, _CUBLAS_COMPUTE_32F = 0, 14, 68  # values of cuBLAS's enums
_LARGE = 1 << 26  # inputs of more bytes are drawn on the GPU: on the CPU, 1 GB of randn took about 7 s


class Served:
    """The requests that the judge may send to this process: each is the name of a method, with its arguments."""

    def __init__(self, kernel, caches):
        self.kernel, self.caches, self.checking, self._on_gpu = kernel, caches, True, {}

    def __call__(self, asked):
        what, *rest = asked
        try:
            return [getattr(self, what)(*rest)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything
            return "raised", said(error)

    def call(self, before, values):
        """Returns the outputs of one call of the kernel as tensors; until checked() is called, a text that describes
        their form comes first. `before` is not used: it only moves the values to other addresses."""
        returned = self.kernel(values)
        if not self.checking:
            return outputs.tensors_of(returned, self.kernel.device)
        form, tensors = outputs.take_apart(returned, self.kernel.device)
        return [form, *tensors]

    def call_sharing(self, before, views):
        """Works like call, for inputs of which some share memory; they arrive as views."""
        return self.call(before, packing.join(views))

    def checked(self):
        """Omits the form of the outputs from all further results: the judge has it."""
        self.checking = False

    def setup(self, meta):
        """Calls setup() of the source with the shapes and constants of the inputs, and reports whether the source
        has one. Each call of the kernel gets the result."""
        make = getattr(getattr(self.kernel, "module", None), "setup", None)
        if callable(make):
            self.kernel.state = {"state": make(meta)}
        return callable(make)

    def begin(self, io):
        """Begins a case: further calls have the arguments of this contract."""
        self.kernel.use(io)
        self.checking = True

    def draw(self, secret, case):
        """Returns the inputs that get_inputs() draws for a case, with the standard seed if secret is None (trial 0).
        Large inputs with a secret are drawn on the GPU if get_inputs() can run there. Trial 0 always uses the CPU,
        because the same seed gives other numbers on a GPU."""
        if secret is not None and self._is_drawn_on_gpu(case):
            try:
                with torch.device("cuda"):
                    return self._drawn(secret, case)
            except (Exception, SystemExit):  # noqa: BLE001 - such as a NumPy array combined with a tensor
                self._on_gpu[repr(case)] = False
            finally:
                torch.cuda.empty_cache()  # returns the memory to the device: the kernels need it
        return self._drawn(secret, case)

    def _drawn(self, secret, case):
        seeding.seed(42) if secret is None else seeding.draw_from(secret)
        return packing.pack(list(self.kernel.module.get_inputs(**case)), "get_inputs()")

    def _is_drawn_on_gpu(self, case):
        """Reports whether there is a GPU and the inputs of a case are large. The size is computed without drawing
        them."""
        key = repr(case)
        if key not in self._on_gpu:
            self._on_gpu[key] = torch.cuda.is_available() and self._bytes(case) > _LARGE
        return self._on_gpu[key]

    def _bytes(self, case):
        try:
            with torch.device("meta"):
                return packing.size(list(self.kernel.module.get_inputs(**case)))
        except (Exception, SystemExit):  # noqa: BLE001 - get_inputs() may need values, which meta tensors lack
            return 0

    def draw_init(self):
        """Returns the result of get_init_inputs()."""
        seeding.seed(42)
        return packing.pack(self.kernel.module.get_init_inputs(), "get_init_inputs()")

    def compiled(self):
        """Returns the packed files that this process compiled, for a later run, as a tensor of bytes; or None."""
        text = self.caches.added()
        return None if text is None else torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def said(error):
    """Returns the text about an error for the kernel's author: the message of our own errors, else the traceback of
    the user's code."""
    plain = isinstance(error, (kernels.CompileError, contract.ContractError))
    return (str(error) if plain else own_traceback())[-MOST_TEXT:]


def own_traceback():
    """Returns the traceback from the first frame in the user's source on, without this program's frames. If no frame
    is in it, as after a syntax error, returns only the error, and prints all frames to stderr."""
    kind, error, frames = sys.exc_info()
    while frames is not None and not frames.tb_frame.f_code.co_filename.endswith("_kernel.py"):
        frames = frames.tb_next
    if frames is None:
        traceback.print_exc()
        return "".join(traceback.format_exception_only(kind, error))
    return "".join(traceback.format_exception(kind, error, frames))


def prepare(role, kind):
    """Does the work that all kernels of a kind need, while another evaluation runs: imports modules, creates the
    CUDA context with the gate that holds calls back, and loads library code. Returns objects that must stay alive."""
    if kind == "cuda":
        import nvrtc  # noqa: F401 - imported only to load it early
    if role != "kernel" or not torch.cuda.is_available():
        return None
    fd = shared_memory(PAGE_SIZE)
    page = Page(fd)
    os.close(fd)
    device = choose_cuda(page)
    with contextlib.suppress(Exception):  # if this fails, the kernel loads the code itself
        if kind == "triton":
            ask_for_ptxas()
        elif kind != "cuda":
            load_usual_kernels()
    return page, device


def ask_for_ptxas():
    """Makes Triton determine the version of its assembler, for which it runs the assembler. The keys of its cache
    contain the version."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    major, minor = torch.cuda.get_device_capability()
    make_backend(GPUTarget("cuda", 10 * major + minor, 32)).hash()


def load_usual_kernels():
    """Loads the device code of operations that most PyTorch kernels use. The first use of each takes 20 ms on an
    H200; the first matrix product takes 80 ms in each of two types. The products call cuBLAS directly, because a
    product by PyTorch would fix for the whole process whether cuBLAS is deterministic."""
    x = torch.ones(64, 64, device="cuda")
    torch.relu(x + x * x).sum()
    cublas = ctypes.CDLL("libcublas.so." + torch.version.cuda.split(".")[0])
    handle, one = ctypes.c_void_p(torch.cuda.current_blas_handle()), ctypes.c_float(1.0)
    for dtype, kind in ((torch.float32, _CUDA_R_32F), (torch.bfloat16, _CUDA_R_16BF)):
        square = torch.ones(64, 64, dtype=dtype, device="cuda")
        matrix = ctypes.c_void_p(square.data_ptr()), kind, 64
        cublas.cublasGemmEx(handle, 0, 0, 64, 64, 64, ctypes.byref(one), *matrix, *matrix, ctypes.byref(one), *matrix, _CUBLAS_COMPUTE_32F, -1)
    torch.cuda.synchronize()


def load(given, device, role, label, init):
    """Loads the source. Returns (the object that serves the calls, or None if loading failed; the message for the
    judge)."""
    began, error, served = time.perf_counter(), None, None
    try:
        caches = compiled.Caches(label)
        kernel = kernels.make(given["kernel"], label, device, init)
        if role == "inputs":
            kernel.module = kernels.load_module(kernel.source, label)
            if given["draws"] and not hasattr(kernel.module, "get_inputs"):
                raise kernels.CompileError("get_inputs() is not defined in the source")
        else:
            kernel.compile()
        served = Served(kernel, caches)
    except (Exception, SystemExit) as raised:  # noqa: BLE001 - user code may raise anything
        error = said(raised)
    return served, {"error": error, "seconds": time.perf_counter() - began}


class Init:
    """Receives the judge's message with the result of the reference's get_init_inputs(). A call returns (the values,
    or None without them; the reason if they are missing, or None)."""

    def __init__(self, channel):
        self._channel, self._sent = channel, None

    def __call__(self):
        if self._sent is None:
            kind, payload, _ = self._channel.receive()
            self._sent = pickle.loads(payload) if kind == packing.INIT else (None, None)
        return self._sent


def compile_alone(code, device, label):
    """Compiles a kernel without a GPU, and sends the compiled files, for a later run on a GPU."""
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
    device = "cpu" if given["device"] == "CPU" else "cuda"
    if role == "compile":
        return compile_alone(given["kernel"], device, label)
    channel, page = Channel.inherited(), Page(PAGE_FD)
    os.close(PAGE_FD)
    init = Init(channel) if role == "kernel" and given["init"] else None
    served, loaded = load(given, device, role, label, init)
    if init is not None and served is not None:
        init()  # receives the judge's message, unless the kernel has done this
    page.describe(json.dumps(loaded).encode()[: MOST_TEXT * 6])
    try:
        serve(channel, page, served, choose_cuda(page) if served is not None and role == "kernel" else None)
    except RunnerGone:
        pass  # the judge has ended, and reports the reason itself
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.exit(main(*sys.argv[1:3]))
