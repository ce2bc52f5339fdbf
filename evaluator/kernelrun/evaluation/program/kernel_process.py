"""One of the processes beside the judge: it has the source of a kernel, and makes the calls that the judge asks for.

    python3 kernel_process.py kernel LABEL     loads the kernel, for calls that are timed
    python3 kernel_process.py inputs LABEL     loads its source for get_inputs() alone, and is never timed
    python3 kernel_process.py compile LABEL    compiles the kernel without a GPU, and sends what came of it

Nothing here is a wall: the kernel may change all of it, and gains nothing by that (see evaluate.py). What loading
gave is said on the page before the first call; the answer of a call is [what it gave] or ("raised", text). The first has no text of
its own: the judge would have to read that before it could copy the answer.
Before it has any of this, a process may be prepared (warpboard_prepared): see prepare.
./kernel.json has the kernel and the device. Nothing of the other kernel is here: this one could run it instead.
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

MOST_TEXT = 32 << 10  # characters of what is said; the page has room for more
_CUDA_R_32F, _CUDA_R_16BF, _CUBLAS_COMPUTE_32F = 0, 14, 68  # constants of cuBLAS
_LARGE = 1 << 26  # bytes of inputs whose random numbers come from a GPU: on a processor 1 GB of randn took about 7 s


class Served:
    """The requests that the judge may send to a process."""

    def __init__(self, kernel, caches):
        self.kernel, self.caches, self.checking, self._on_gpu = kernel, caches, True, {}

    def __call__(self, asked):
        what, *rest = asked
        try:
            return [getattr(self, what)(*rest)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything
            return "raised", said(error)

    def call(self, before, values):
        """The outputs of one call of the kernel: plain tensors, and until they are checked their form as text. What lies before the values
        only moves them to other addresses."""
        returned = self.kernel(values)
        if not self.checking:
            return outputs.tensors_of(returned, self.kernel.device)
        form, tensors = outputs.take_apart(returned, self.kernel.device)
        return [form, *tensors]

    def call_sharing(self, before, views):
        """The same with inputs that share memory."""
        return self.call(before, packing.join(views))

    def checked(self):
        """The forms of the outputs are known."""
        self.checking = False

    def setup(self, meta):
        """Calls the file's setup, and reports whether there is one. Its result is passed to each call."""
        make = getattr(getattr(self.kernel, "module", None), "setup", None)
        if callable(make):
            self.kernel.state = {"state": make(meta)}
        return callable(make)

    def begin(self, io):
        """Further calls are of a case with this contract."""
        self.kernel.use(io)
        self.checking = True

    def draw(self, secret, case):
        """Returns the inputs of get_inputs() for a case, in trial 0 without a secret. Large ones with a secret are drawn on the GPU, if
        get_inputs() runs there. A seed gives other numbers on a GPU, so those of trial 0 come from a processor."""
        if secret is not None and self._is_drawn_on_gpu(case):
            try:
                with torch.device("cuda"):
                    return self._drawn(secret, case)
            except (Exception, SystemExit):  # noqa: BLE001 - such as an array of NumPy beside a tensor
                self._on_gpu[repr(case)] = False
            finally:
                torch.cuda.empty_cache()  # the kernels need the memory
        return self._drawn(secret, case)

    def _drawn(self, secret, case):
        seeding.seed(42) if secret is None else seeding.draw_from(secret)
        return packing.pack(list(self.kernel.module.get_inputs(**case)), "get_inputs()")

    def _is_drawn_on_gpu(self, case):
        """Reports whether the inputs of a case are large, for which they are not drawn, and there is a GPU."""
        key = repr(case)
        if key not in self._on_gpu:
            self._on_gpu[key] = torch.cuda.is_available() and self._bytes(case) > _LARGE
        return self._on_gpu[key]

    def _bytes(self, case):
        try:
            with torch.device("meta"):
                return sum(tensor.numel() * tensor.element_size() for tensor in packing.tensors_in(list(self.kernel.module.get_inputs(**case))))
        except (Exception, SystemExit):  # noqa: BLE001 - it needs values
            return 0

    def draw_init(self):
        """Returns the inputs of get_init_inputs()."""
        seeding.seed(42)
        return packing.pack(self.kernel.module.get_init_inputs(), "get_init_inputs()")

    def compiled(self):
        """Returns the text of the files that were compiled here and need not be again, as a tensor of its bytes; or
        None."""
        text = self.caches.added()
        return None if text is None else torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def said(error):
    """Returns the text about an error for people: our plain sentences, and tracebacks of the user's code."""
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


def prepare(role, kind):
    """Does what every kernel of a kind needs, while another evaluation runs: imports, the device with its gate, and code of libraries.
    Returns what must not be dropped."""
    if kind == "cuda":
        import nvrtc  # noqa: F401
    if role != "kernel" or not torch.cuda.is_available():
        return None
    fd = shared_memory(PAGE_SIZE)
    page = Page(fd)
    os.close(fd)
    device = choose_cuda(page)
    with contextlib.suppress(Exception):  # the kernel then loads it
        if kind == "triton":
            ask_for_ptxas()
        elif kind != "cuda":
            load_usual_kernels()
    return page, device


def ask_for_ptxas():
    """Has Triton find its assembler's version, which is part of the keys of its cache: it runs the assembler for that."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    major, minor = torch.cuda.get_device_capability()
    make_backend(GPUTarget("cuda", 10 * major + minor, 32)).hash()


def load_usual_kernels():
    """Loads the code of some operations that most PyTorch kernels use. Their first uses take 20 ms each on an H200, and the first products
    80 ms in each of two types. The products are cuBLAS's own: one of PyTorch would also decide whether cuBLAS is deterministic."""
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
    """Returns (the object that serves the calls, or None; the message for the judge)."""
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
    except (Exception, SystemExit) as raised:  # noqa: BLE001
        error = said(raised)
    return served, {"error": error, "seconds": time.perf_counter() - began}


class Init:
    """The judge's message before the first call: the values of the reference's get_init_inputs(), None without one, and
    the reason if they are missing."""

    def __init__(self, channel):
        self._channel, self._sent = channel, None

    def __call__(self):
        if self._sent is None:
            kind, payload, _ = self._channel.receive()
            self._sent = pickle.loads(payload) if kind == packing.INIT else (None, None)
        return self._sent


def compile_alone(code, device, label):
    """Compiles the parts that need no GPU, for a run that then finds them compiled."""
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
        init()  # a kernel of another kind has left it
    page.describe(json.dumps(loaded).encode()[: MOST_TEXT * 6])
    try:
        serve(channel, page, served, choose_cuda(page) if served is not None and role == "kernel" else None)
    except RunnerGone:
        pass  # the judge has ended, and says itself why
    return 0


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    sys.exit(main(*sys.argv[1:3]))
