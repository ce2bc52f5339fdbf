"""The kinds of kernels. Each compiles its source and can then be called with a list of argument values."""

import importlib.util
import inspect
import os
import sys
from typing import Any

import torch

import contract
import inline
import outputs
import packing
import seeding


class CompileError(Exception):
    """The source cannot be compiled or loaded. The message is for its author."""


def architecture():
    """Returns the GPU's architecture, such as "9.0a". The worker sets it in the environment, also for processes that
    compile without a GPU."""
    said = os.environ.get("TORCH_CUDA_ARCH_LIST")
    if said:
        return said
    major, minor = torch.cuda.get_device_capability()
    return f"{major}.{minor}" + ("a" if major >= 9 else "")


def load_module(source, label):
    """Writes the source to a separate file and imports it. Triton and inspect read the text of functions from this
    file."""
    path = os.path.abspath(f"{label}_kernel.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(f"{label}_kernel", path)
    assert spec is not None and spec.loader is not None  # not None for a path that ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def takes(cls, given):
    """Reports whether the signature of a class accepts these arguments."""
    if getattr(cls, "__init__", None) is torch.nn.Module.__init__:
        return not given
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):  # some built-in callables have no signature
        return True
    try:
        signature.bind(**given) if isinstance(given, dict) else signature.bind(*given)
    except TypeError:
        return False
    return True


class Kernel:
    """One kernel of a request, from make(), which has called check(). compile() makes it callable, and raises an
    error if the source is bad. A call returns the source's result, or Written if the kernel writes its outputs into
    arguments. init() waits for the result of the reference's get_init_inputs(), and returns it. precompile() fills
    the caches for a later compile(), without a GPU, for kinds that support it."""

    writes = None  # True if the contract has tensors that the kernel writes; None: not determined yet
    state: dict[str, Any] = {}  # the result of setup() as the keyword argument state, or empty

    def __init__(self, code, label, device, init=None):
        # As a file saved on Windows may have it: byte order mark and CRLF
        self.source = code["source_code"].removeprefix("\ufeff").replace("\r\n", "\n")
        # Further files of the kernel: name → text; they are in the folder of the source
        self.files = code.get("source_files") or {}
        self.io, self.label, self.device = code.get("io"), label, device
        self.meta, self.init, self.compiles = code.get("metadata") or {}, init, code.get("torch_compile")

    def check(self):
        """Raises CompileError if the text of the source alone shows that it is not a kernel of this kind."""

    def compile(self):
        raise NotImplementedError

    def precompile(self):
        pass

    def __call__(self, values):
        raise NotImplementedError

    def use(self, io):
        """Switches to the contract of another case."""
        self.io, self.writes, self.state = io, None, {}

    def args(self):
        return contract.arguments(self.io)

    def roles(self):
        return contract.roles(self.io)

    def written(self, values):
        """Returns the tensors that a launch wrote: the arguments with role output or inout, or all tensors if none
        has such a role."""
        marked = [i for i, role, _ in self.roles() if role in ("output", "inout")]
        places = marked or [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
        args = self.args()
        return outputs.Written([values[i] for i in places], [args[i].get("name") for i in places if i < len(args)])

    def returned(self, result, values):
        """Returns the result of a Python function, or the tensors that it wrote if the result contains no tensor."""
        if self.writes is None:
            self.writes = any(role in ("output", "inout") for _, role, _ in self.roles())
        return self.written(values) if self.writes and not packing.tensors_in(result) else result


class TorchKernel(Kernel):
    """A kernel of type torch: a function, a class with a method, or KernelBench's Model or ModelNew. The source may
    have get_inputs()."""

    no_class = "Class 'Model' not found in source code, and no ModelNew; name a function_name or class_name in metadata"
    places = None  # indices of the arguments that the callable takes; None: not determined yet

    def compile(self):
        self.module = load_module(self.source, self.label)
        self.call = self.original = self.function() or self.method()
        if self.compiles:
            if not hasattr(torch, "compile"):
                raise CompileError(f"PyTorch {torch.__version__} on this device has no torch.compile")
            self.call = torch.compile(self.call)

    def use(self, io):
        super().use(io)
        self.places = None

    def function(self):
        name = self.meta.get("function_name")
        if not name:
            return None
        if not callable(getattr(self.module, name, None)):
            raise CompileError(f"Function '{name}' not found in source code")
        return getattr(self.module, name)

    def method(self):
        cls = self.model_class()
        positional, named = self.init_inputs(cls)
        seeding.seed(42)  # so that both kernels have the same weights
        model = cls(*positional, **named)
        model = model.to(self.device) if isinstance(model, torch.nn.Module) else model
        name = self.meta.get("method_name") or "forward"
        if not callable(getattr(model, name, None)):
            raise CompileError(f"Method '{name}' not found in class '{cls.__name__}'")
        # A call of the module itself runs its hooks and compiled wrappers. Other methods are called by name.
        return model if name == "forward" and isinstance(model, torch.nn.Module) else getattr(model, name)

    def init_inputs(self, cls):
        """Returns the arguments for the class's constructor: the result of the reference's get_init_inputs(), as in
        KernelBench, or that of the source's own if the class does not accept the reference's."""
        own = getattr(self.module, "get_init_inputs", None)
        given, why = self.init() if self.init is not None else (None, None)
        if (given is None or not takes(cls, given)) and own is not None:
            seeding.seed(42)
            given = own()
        elif given is None and why and not takes(cls, []):
            raise CompileError(why)
        elif given is None or takes(cls, []) and not takes(cls, given):
            given = []  # the source contains the values itself
        given = packing.walk(given, lambda tensor: tensor.to(self.device))
        return ((), given) if isinstance(given, dict) else (given, {})

    def model_class(self):
        name = self.meta.get("class_name")
        if name and not hasattr(self.module, name):
            raise CompileError(f"Class '{name}' not found in source code")
        for name in [name] if name else self.default_classes():
            if hasattr(self.module, name):
                return getattr(self.module, name)
        raise CompileError(self.no_class)

    def default_classes(self):
        """Returns the class names to look for, in order. A custom source that has both classes contains a copy of
        the reference's Model."""
        return ["Model", "ModelNew"] if self.label == "ref" else ["ModelNew", "Model"]

    def __call__(self, values):
        if self.places is None:
            self.places = self.accepted(values)
        with torch.no_grad():
            return self.returned(self.call(*[values[i] for i in self.places], **self.state), values)

    def accepted(self, values):
        """Returns the indices of the arguments that the callable accepts. It tries all arguments, then all without
        pure outputs, then only tensors that are inputs; a PyTorch function usually takes no scalars for launch
        sizes."""
        every, roles = range(len(values)), {i: role for i, role, _ in self.roles()}
        if not roles:
            return every
        target = self.original.forward if isinstance(self.original, torch.nn.Module) else self.original
        try:
            signature = inspect.signature(target)
        except (TypeError, ValueError):  # some built-in callables have no signature
            return every
        without_outputs = [i for i in every if roles.get(i) != "output"]
        for places in (every, without_outputs, [i for i in without_outputs if isinstance(values[i], torch.Tensor)]):
            try:
                signature.bind(*places, **self.state)
                return places
            except TypeError:
                continue
        raise contract.ContractError(f"{getattr(target, '__name__', 'It')}{signature} cannot be called with the contract's {len(values)} args")


class TorchCudaKernel(TorchKernel):
    """A kernel of type torch_cuda: PyTorch code with CUDA sources that torch's load_inline compiles."""

    no_class = inline.NO_MODEL

    def check(self):
        if not self.files and (why := inline.problem(self.source, self.meta)):  # a further file may call load_inline
            raise CompileError(why)

    def default_classes(self):
        return ["ModelNew"]  # a class Model in the source is a copy of the reference's


class MultiKernel(Kernel):
    """Python code that launches its kernels itself. metadata.entry_point names the function to call."""

    def compile(self):
        if self.io is None:
            raise CompileError("IOContract is required for multi-kernel sequences. Give the arguments of the entry point in io")
        name = self.meta.get("entry_point")
        if not name:
            raise CompileError("Metadata with 'entry_point' is required")
        self.module = load_module(self.source, self.label)
        if not callable(getattr(self.module, name, None)):
            names = [n for n, v in vars(self.module).items() if callable(v) and not n.startswith("_")]
            raise CompileError(f"Entry point '{name}' not found in source. Available: {names}")
        self.call = getattr(self.module, name)

    def __call__(self, values):
        return self.returned(self.call(*values, **self.state), values)


class TritonKernel(Kernel):
    """One @triton.jit kernel, launched with the grid and the arguments of the contract."""

    def compile(self):
        self.read()
        positional, named = self.bind(contract.unfilled(self.io, self.device))
        if hasattr(self.kernel, "warmup"):  # warmup compiles the kernel without running it
            self.kernel.warmup(*positional, grid=self.grid, **named)

    def precompile(self):
        import absent

        self.read()
        positional, named = self.bind(contract.stand_ins(self.io))
        absent.compile_for(architecture())
        absent.build_launcher(self.kernel.warmup(*positional, grid=self.grid, **named))

    def read(self):
        self.module = load_module(self.source, self.label)
        self.kernel = self.find()
        launch = (self.io or {}).get("launch") or {}
        self.options = {k: launch[k] for k in ("num_warps", "num_stages") if launch.get(k) is not None}
        self.grid = contract.launch_dims(self.io, "grid", (1, 1, 1))

    def use(self, io):
        super().use(io)
        self.grid = contract.launch_dims(io, "grid", (1, 1, 1))

    def find(self):
        found = {n: v for n, v in vars(self.module).items() if hasattr(v, "run") and hasattr(v, "fn")}
        if not found:
            raise CompileError("No @triton.jit kernels found in source.")
        name = self.meta.get("kernel_name") or next(iter(found))
        if name not in found:
            raise CompileError(f"Kernel '{name}' not found. Available: {list(found)}")
        return found[name]

    def parameters(self):
        fn = self.kernel
        while not hasattr(fn, "arg_names") and hasattr(fn, "fn"):
            fn = fn.fn
        return list(getattr(fn, "arg_names", []))

    def bind(self, values):
        """Returns (positional, keyword) arguments of the kernel. A meta argument is passed by keyword if the kernel
        has a parameter of its name."""
        parameters = self.parameters()
        positional, named = [], dict(self.options)
        for arg, value in zip(self.args(), values):
            if arg.get("is_meta") and arg.get("name") in parameters:
                named[arg["name"]] = value
            else:
                positional.append(value)
        by_name = set(named)
        # A parameter passed by keyword comes before a positional one: pass all by keyword
        if by_name & set(parameters[: len(positional)]):
            free = [p for p in parameters if p not in by_name]
            named.update(zip(free, positional))
            positional = []
        return positional, named

    def __call__(self, values):
        positional, named = self.bind(values)
        self.kernel[self.grid](*positional, **named)
        return self.written(values)


def make(code, label, device, init=None):
    """Returns the kernel of a KernelCode object. init returns the values of the reference's get_init_inputs(), or
    the reason why they are missing."""
    kind = code["kernel_type"]
    if kind == "cuda":
        from nvrtc import CudaKernel  # imported only for CUDA kernels, because it needs libcuda

        return CudaKernel(code, label, device)
    kinds = {"torch": TorchKernel, "torch_cuda": TorchCudaKernel, "triton": TritonKernel, "multi_kernel": MultiKernel}
    kernel = kinds[kind](code, label, device, init)
    kernel.check()
    if kind not in ("torch", "multi_kernel") and device == "cpu":
        raise CompileError(f"A {kind} kernel needs a GPU; this device is the CPU")
    return kernel
