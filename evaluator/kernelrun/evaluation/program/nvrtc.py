"""Compiles raw CUDA kernels with NVRTC, and loads and launches them through the CUDA driver, both through ctypes.

No Python package for CUDA is needed: NVRTC comes with PyTorch or with the CUDA toolkit, and the driver is installed on
the machine. Kernels run in PyTorch's CUDA context, on its current stream.
"""

import contextlib
import ctypes
import glob
import os
import re
import struct
import threading

import torch

import compiled
import contract
from kernels import CompileError, Kernel, architecture

MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES of the driver API
DEFAULT_SHARED_LIMIT = 48 * 1024


def _near_torch(pattern):
    site = os.path.dirname(os.path.dirname(torch.__file__))
    return sorted(glob.glob(os.path.join(site, "nvidia", "*", pattern)))


def _toolkits():
    return [d for d in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda") if d]


def libraries():
    names = _near_torch("lib/libnvrtc.so.*") + [f for d in _toolkits() for f in glob.glob(f"{d}/lib64/libnvrtc.so*")]
    return [name for name in names if "builtins" not in name]


def load_nvrtc():
    for name in [*libraries(), "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise CompileError("NVRTC is not installed on this machine: neither PyTorch nor a CUDA toolkit brings libnvrtc")


def compiler():
    """Returns a key that differs between versions of NVRTC: path, size, and modification time of the library's file.
    Loading its 100 MB to read the version would take longer than loading a kernel from the cache."""
    for name in libraries():
        info = os.stat(name)
        return name, info.st_size, info.st_mtime_ns
    nvrtc, major, minor = load_nvrtc(), ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def include_dirs():
    """Returns the include directory of the CUDA toolkit, and its subdirectory cccl with CUB and libcu++ (since CUDA
    13)."""
    candidates = [f"{d}/include" for d in _toolkits()] + _near_torch("include")
    found = [d for d in candidates if os.path.exists(os.path.join(d, "cuda_fp16.h"))][:1]
    return found + [d for d in (os.path.join(top, "cccl") for top in found) if os.path.isdir(d)]


# Replacements for standard C and C++ headers, which NVRTC lacks but many sources include. printf and the functions of
# math.h are built into NVRTC.
_INTEGERS = "".join(f"typedef {sign}{kind} {short}int{bits}_t;\n" for sign, short in (("signed ", ""), ("unsigned ", "u"))
                    for kind, bits in (("char", 8), ("short", 16), ("int", 32), ("long long", 64)))
_LIMITS = "#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n#define UINT_MAX 4294967295u\n"
_FLOATS = "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n#define FLT_EPSILON 1.192092896e-07f\n#define DBL_MAX 1.7976931348623157e+308\n"
_MATH = "#define INFINITY __int_as_float(0x7f800000)\n#define NAN __int_as_float(0x7fffffff)\n#define M_PI 3.14159265358979323846\n"
_ASSERT = "#define assert(condition) ((condition) ? (void)0 : __trap())\n"
_HOST = {"stdint": _INTEGERS, "limits": _LIMITS, "float": _FLOATS, "math": _MATH, "assert": _ASSERT} | dict.fromkeys(
    ("stdio", "stdlib", "string", "stddef", "time", "errno"), "")
HOST_HEADERS = {f"{name}.h": text for name, text in _HOST.items()} | {f"c{name}": text for name, text in _HOST.items()} | dict.fromkeys(
    ("algorithm", "array", "chrono", "functional", "iomanip", "iostream", "limits", "memory", "numeric", "random", "string", "utility", "vector"), "")
ABSENT = re.compile(r'open source file "([^"]+)"')


def make_context():
    """Creates PyTorch's CUDA context and makes it current in this thread."""
    torch.cuda.init()
    torch.zeros(1, device="cuda")


def make_context_early():
    """Calls make_context for a separate thread. Ignores errors: they occur again at the first use, which reports
    them."""
    with contextlib.suppress(Exception):
        make_context()


class Driver:
    """The functions of libcuda that a launch needs. Each raises RuntimeError with the driver's error text if it
    fails."""

    def __init__(self):
        make_context()
        self.lib = ctypes.CDLL("libcuda.so.1")

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name} failed with error {code}: {(text.value or b'unknown').decode()}")

    def load(self, image):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name)
        return function

    def parameter_sizes(self, function):
        """Returns the sizes of the kernel's parameters in bytes, or None if the driver does not report them."""
        if not hasattr(self.lib, "cuFuncGetParamInfo"):
            return None
        sizes: list[int] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        while self.lib.cuFuncGetParamInfo(function, ctypes.c_size_t(len(sizes)), ctypes.byref(offset), ctypes.byref(size)) == 0:
            sizes.append(size.value)
        return sizes


def strip_comments(source):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.S)


TOKEN = re.compile(r"\w+|\S")


def signatures(source):
    """Returns the parameters of the source's __global__ functions: name → list of parameter texts, in order."""
    text = strip_comments(source)
    found: dict[str, list] = {}
    for start in re.finditer(r"\b__global__\b", text):
        name, at = function_name(text, start.end())
        if name:
            found.setdefault(name, parameters(text, at))
    return found


def function_name(text, at):
    """Returns (name, position after the opening parenthesis of the parameters) of the function declared from
    text[at] on. The name is the word before the first parenthesis that does not belong to an attribute."""
    word = None
    while token := TOKEN.search(text, at):
        at, piece = token.end(), token.group()
        if piece == "(" and word in ("__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "alignas"):
            at = closing(text, at)
        elif piece == "(":
            return word, at
        elif piece in ";{}#":
            return None, at
        word = piece if piece[0].isalnum() or piece[0] == "_" else None
    return None, at


def closing(text, at):
    """Returns the position after the parenthesis that closes the one before text[at]."""
    depth = 1
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def parameters(text, at):
    """Splits the parameter list that begins at text[at] at commas outside of parentheses and angle brackets."""
    depth, current, out = 0, "", []
    while at < len(text) and not (text[at] == ")" and depth == 0):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(text[at], 0)
        if text[at] == "," and depth == 0:
            out.append(current.strip())
            current = ""
        else:
            current += text[at]
        at += 1
    return out + [current.strip()] if current.strip() else out


FLOAT_FORMATS = {2: "<e", 4: "<f", 8: "<d"}


def pack_scalar(value, declared, size):
    """Returns the bytes of a scalar in the type and size of the kernel's parameter."""
    words = set(re.findall(r"\w+", declared or ""))
    if words & {"__nv_bfloat16", "nv_bfloat16", "bfloat16"}:
        return torch.tensor(float(value), dtype=torch.bfloat16).view(torch.int16).numpy().tobytes()
    floating = bool(words & {"float", "double", "half", "__half"})
    known = bool(words & {"int", "unsigned", "long", "short", "char", "bool", "size_t"}) or any(w.endswith("_t") for w in words)
    if floating or (isinstance(value, float) and not known):
        size = size or (8 if "double" in words else 2 if words & {"half", "__half"} else 4)
        return struct.pack(FLOAT_FORMATS[size], float(value))
    size = size or (8 if words & {"long", "size_t", "int64_t", "uint64_t"} else 4)
    return int(value).to_bytes(size, "little", signed=int(value) < 0)


class CudaKernel(Kernel):
    """A kernel of type cuda: one __global__ function."""

    def compile(self):
        if self.device == "cpu":
            raise CompileError("A cuda kernel needs a GPU; this device is the CPU")
        # Creating the context takes longer than compiling most kernels, so both run at the same time.
        context = threading.Thread(target=make_context_early)
        context.start()
        try:
            image, lowered = self.precompile()
        finally:
            context.join()
        self.driver = Driver()
        self.module = self.driver.load(image)
        self.function = self.driver.function(self.module, lowered)
        self.sizes = self.driver.parameter_sizes(self.function)
        self.check_count()
        self.configure()

    def precompile(self):
        """Finds the kernel in the source and compiles it. Returns (the cubin, the kernel's mangled name). Needs no
        GPU."""
        if self.io is None:
            raise CompileError("A cuda kernel requires io: the arguments and the launch sizes")
        found = signatures("\n".join([self.source, *self.files.values()]))
        expressions = list(self.meta.get("name_expressions") or [])
        wanted = self.meta.get("kernel_name") or (expressions[0] if expressions else next(iter(found), None))
        if not wanted:
            raise CompileError("No __global__ function found in source")
        base = re.sub(r"<.*", "", wanted).split("::")[-1].strip()
        if base not in found:
            raise CompileError(f"Kernel '{wanted}' not found. Available: {list(found)}")
        self.declared = found[base]
        return self.build(expressions if wanted in expressions else [*expressions, wanted], wanted)

    def check_count(self):
        want = len(self.sizes) if self.sizes is not None else len(self.declared)
        if want != len(self.args()):
            raise CompileError(f"The kernel takes {want} parameters ({', '.join(self.declared)}), but the contract has {len(self.args())} args")

    def configure(self):
        launch = self.io.get("launch") or {}
        self.grid = contract.launch_dims(self.io, "grid", (1, 1, 1))
        self.block = contract.launch_dims(self.io, "block", (256, 1, 1))
        self.shared = int(launch.get("shared_mem") or 0)
        if self.shared > DEFAULT_SHARED_LIMIT:
            self.driver.call("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED, self.shared)

    def use(self, io):
        super().use(io)
        self.configure()

    def build(self, expressions, wanted):
        """Returns (the cubin, the kernel's mangled name), from the cache if it has them."""
        what = (compiler(), self.label, self.source, sorted(self.files.items()), expressions, wanted, self.options())
        kept = compiled.recall(*what)
        if kept is None:
            image, lowered = self.translate(load_nvrtc(), expressions, wanted)
            kept = lowered + b"\n" + image
            compiled.remember(kept, *what)
        lowered, _, image = kept.partition(b"\n")
        return image, lowered

    def translate(self, nvrtc, expressions, wanted):
        given = dict(self.files)
        while (log := self.attempt(nvrtc, expressions, given, program := ctypes.c_void_p())) is not None:
            absent = set(ABSENT.findall(log)) & HOST_HEADERS.keys() - given.keys()
            if not absent:
                raise CompileError("CUDA compilation failed: " + log)
            given |= {name: HOST_HEADERS[name] for name in absent}
        name = ctypes.c_char_p()
        nvrtc.nvrtcGetLoweredName(program, wanted.encode(), ctypes.byref(name))
        return self.fetch(nvrtc, program, "CUBIN"), name.value

    def attempt(self, nvrtc, expressions, headers, program):
        """Compiles the source once; headers has the texts of files to include, by name. Returns the compiler's
        messages if this fails, else None."""
        names, texts = ((ctypes.c_char_p * len(headers))(*(text.encode() for text in some)) for some in (headers, headers.values()))
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), self.source.encode(), f"{self.label}.cu".encode(), len(headers), texts, names)
        for expression in expressions:
            nvrtc.nvrtcAddNameExpression(program, expression.encode())
        options = [o.encode() for o in self.options()]
        if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            return self.fetch(nvrtc, program, "ProgramLog").decode(errors="replace").rstrip("\0\n")
        return None

    @staticmethod
    def fetch(nvrtc, program, what):
        size = ctypes.c_size_t()
        getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw

    def options(self):
        given = list(self.meta.get("compiler_options") or [])
        own = [f"--gpu-architecture=sm_{architecture().replace('.', '')}", "--generate-line-info"]
        if not any("std=" in option for option in given):
            own.append("--std=c++17")
        return own + [f"--include-path={d}" for d in include_dirs()] + given

    def __call__(self, values):
        holders = [self.parameter(i, v) for i, v in enumerate(values)]
        addresses = (ctypes.c_void_p * len(holders))(*[ctypes.cast(h, ctypes.c_void_p) for h in holders])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.driver.call("cuLaunchKernel", self.function, *map(ctypes.c_uint, (*self.grid, *self.block, self.shared)), stream, addresses, None)
        return self.written(values)

    def parameter(self, index, value):
        size = self.sizes[index] if self.sizes else None
        declared = self.declared[index] if index < len(self.declared) else ""
        if isinstance(value, torch.Tensor):
            return ctypes.create_string_buffer(struct.pack("<Q", value.data_ptr()), 8)
        if isinstance(value, str):
            raise CompileError(f"Argument {index} is a string; a cuda kernel takes tensors and numbers")
        raw = pack_scalar(value, declared, size)
        return ctypes.create_string_buffer(raw, len(raw))
