"""The kinds of kernel: each compiles its source and can then be called with a list of values."""

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
    """The source cannot be made to run; the message is for the person who wrote it."""


def architecture():
    """Returns the GPU's architecture, as "9.0a": the worker sets it, also if kernels are compiled without a GPU."""
    said = os.environ.get("TORCH_CUDA_ARCH_LIST")
    if said:
        return said
    major, minor = torch.cuda.get_device_capability()
    return f"{major}.{minor}" + ("a" if major >= 9 else "")


def load_module(source, label):
    """Imports source from a file of its own: Triton and inspect read functions back from it."""
    path = os.path.abspath(f"{label}_kernel.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(f"{label}_kernel", path)
    assert spec is not None and spec.loader is not None  # for a path that ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def takes(cls, given):
    """Reports whether a class can be made with these inputs, by its signature."""
    if getattr(cls, "__init__", None) is torch.nn.Module.__init__:
        return not given
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):  # a builtin does not tell
        return True
    try:
        signature.bind(**given) if isinstance(given, dict) else signature.bind(*given)
    except TypeError:
        return False
    return True


class Kernel:
    """One kernel of a request. make() has called check(). compile() makes it callable and raises on bad source; a call
    returns the source's result, or Written. init() returns the values that it needs of the reference, and waits for
    them. precompile() only fills the caches for a later compile(), without a GPU, if the kind can do that."""

    writes = None  # whether the contract has tensors that it writes
    state: dict[str, Any] = {}  # the result of setup(), as a keyword argument

    def __init__(self, code, label, device, init=None):
        self.source = code["source_code"].removeprefix("\ufeff").replace("\r\n", "\n")  # of a file that was saved on Windows
        self.files = code.get("source_files") or {}  # texts by name, which lie beside the source
        self.io, self.label, self.device = code.get("io"), label, device
        self.meta, self.init, self.compiles = code.get("metadata") or {}, init, code.get("torch_compile")

    def check(self):
        """Raises where the source's text alone shows that it is no kernel of its kind."""

    def compile(self):
        raise NotImplementedError

    def precompile(self):
        pass

    def __call__(self, values):
        raise NotImplementedError

    def use(self, io):
        """Takes the contract of another case."""
        self.io, self.writes, self.state = io, None, {}

    def args(self):
        return contract.arguments(self.io)

    def roles(self):
        return contract.roles(self.io)

    def written(self, values):
        """The tensors that a launch wrote: outputs and inouts, or all when none is marked."""
        marked = [i for i, role, _ in self.roles() if role in ("output", "inout")]
        places = marked or [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
        args = self.args()
        return outputs.Written([values[i] for i in places], [args[i].get("name") for i in places if i < len(args)])

    def returned(self, result, values):
        """Returns the result of a Python function, or the tensors that it wrote if it returned none."""
        if self.writes is None:
            self.writes = any(role in ("output", "inout") for _, role, _ in self.roles())
        return self.written(values) if self.writes and not packing.tensors_in(result) else result


class TorchKernel(Kernel):
    """torch and torch_cuda: a function, a class with a method, or KernelBench's Model or ModelNew, and get_inputs."""

    no_class = "Class 'Model' not found in source code, and no ModelNew; name a function_name or class_name in metadata"
    places = None  # of the values that the callable takes

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
        seeding.seed(42)  # the weights of both kernels are equal
        model = cls(*positional, **named)
        model = model.to(self.device) if isinstance(model, torch.nn.Module) else model
        name = self.meta.get("method_name") or "forward"
        if not callable(getattr(model, name, None)):
            raise CompileError(f"Method '{name}' not found in class '{cls.__name__}'")
        # Calling the module itself keeps hooks and compiled wrappers; any other method is called by name.
        return model if name == "forward" and isinstance(model, torch.nn.Module) else getattr(model, name)

    def init_inputs(self, cls):
        """Returns the arguments of the class: the values of the reference's get_init_inputs(), as in KernelBench, else
        the source's own."""
        own = getattr(self.module, "get_init_inputs", None)
        given, why = self.init() if self.init is not None else (None, None)
        if (given is None or not takes(cls, given)) and own is not None:
            seeding.seed(42)
            given = own()
        elif given is None and why and not takes(cls, []):
            raise CompileError(why)
        elif given is None or takes(cls, []) and not takes(cls, given):
            given = []  # it has their values in its source
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
        """A source with both classes repeats the reference's."""
        return ["Model", "ModelNew"] if self.label == "ref" else ["ModelNew", "Model"]

    def __call__(self, values):
        if self.places is None:
            self.places = self.accepted(values)
        with torch.no_grad():
            return self.returned(self.call(*[values[i] for i in self.places], **self.state), values)

    def accepted(self, values):
        """The places of as many of the values as the callable has room for: all, else all but pure outputs, else the
        input tensors alone. A launch's sizes are nothing that a PyTorch function takes."""
        every, roles = range(len(values)), {i: role for i, role, _ in self.roles()}
        if not roles:
            return every
        target = self.original.forward if isinstance(self.original, torch.nn.Module) else self.original
        try:
            signature = inspect.signature(target)
        except (TypeError, ValueError):  # a builtin does not tell
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
    """PyTorch with CUDA sources that PyTorch's own load_inline builds."""

    no_class = inline.NO_MODEL

    def check(self):
        if not self.files and (why := inline.problem(self.source, self.meta)):  # another file may build it
            raise CompileError(why)

    def default_classes(self):
        return ["ModelNew"]  # a Model that was left in the source is the reference's


class MultiKernel(Kernel):
    """Any Python that launches kernels itself, entered at metadata.entry_point."""

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
    """One @triton.jit kernel, launched with the contract's grid and arguments."""

    def compile(self):
        self.read()
        positional, named = self.bind(contract.unfilled(self.io, self.device))
        if hasattr(self.kernel, "warmup"):  # compiles without running
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
        """Meta arguments go by name where the kernel has that name; all others by position."""
        parameters = self.parameters()
        positional, named = [], dict(self.options)
        for arg, value in zip(self.args(), values):
            if arg.get("is_meta") and arg.get("name") in parameters:
                named[arg["name"]] = value
            else:
                positional.append(value)
        by_name = set(named)
        if by_name & set(parameters[: len(positional)]):  # a meta parameter stands before a plain one
            free = [p for p in parameters if p not in by_name]
            named.update(zip(free, positional))
            positional = []
        return positional, named

    def __call__(self, values):
        positional, named = self.bind(values)
        self.kernel[self.grid](*positional, **named)
        return self.written(values)


def make(code, label, device, init=None):
    """Returns the kernel of a KernelCode object. init returns the values of the reference's get_init_inputs(), or the
    reason why they are missing."""
    kind = code["kernel_type"]
    if kind == "cuda":
        from nvrtc import CudaKernel  # needs libcuda: only asked for where it is used

        return CudaKernel(code, label, device)
    kinds = {"torch": TorchKernel, "torch_cuda": TorchCudaKernel, "triton": TritonKernel, "multi_kernel": MultiKernel}
    kernel = kinds[kind](code, label, device, init)
    kernel.check()
    if kind not in ("torch", "multi_kernel") and device == "cpu":
        raise CompileError(f"A {kind} kernel needs a GPU; this device is the CPU")
    return kernel
