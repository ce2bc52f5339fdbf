"""Makes a kernel's arguments from an IOContract: tensors from their specs, scalars, and launch sizes.

Each tensor has its own random generator (seeding.py). In trial 0, its seed is the one in the contract, or follows from
the tensor's position. Each later trial has a secret that no kernel can read, and a tensor's values follow from this
secret and from the seed of trial 0. So the values are fresh in each trial, and tensors with the same seed, shape, and
init are equal.
"""

import ast
import base64
import operator
import zlib
from collections.abc import Callable

import torch

import seeding

DTYPES = {
    name: getattr(torch, name)
    for name in (
        "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
        "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2", "complex64", "complex128",
    )
    if hasattr(torch, name)
}

# Init kind randn draws integers from the whole range of their type; int64 only from numbers that float64 represents
# exactly.
INT_RANGE = {
    torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int16: (-2**15, 2**15 - 1),
    torch.int32: (-2**31, 2**31 - 1), torch.int64: (-10**6, 10**6), torch.bool: (0, 1),
    "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1), "uint64": (0, 2 * 10**6),
}
# Signed types with the same bits, for unsigned types on which torch supports few operations
SIGNED = {"uint16": torch.int16, "uint32": torch.int32, "uint64": torch.int64}
# Bits of a NaN; 0x7F in all small types that are not listed. float4 has no NaN.
NAN = {"float8_e4m3fnuz": 0x80, "float8_e5m2fnuz": 0x80, "float8_e8m0fnu": 0xFF}
LARGEST = {"float8_e4m3fn": 0x7E, "float8_e5m2": 0x7B, "float8_e4m3fnuz": 0x7F, "float8_e5m2fnuz": 0x7F, "float8_e8m0fnu": 0xFE, "float4_e2m1fn_x2": 0x77}
PAIRED = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # all non-negative values of float4_e2m1fn


class ContractError(ValueError):
    """The arguments of a contract cannot be made. The message names the argument and the reason."""


def is_float(dtype):
    return dtype.is_floating_point


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def is_small_float(dtype):
    """Reports whether a dtype is fp8 or fp4. torch supports few operations on these types, so values are computed in
    float32 and then cast."""
    return name_of(dtype).startswith(("float8", "float4"))


def is_pair(dtype):
    """Reports whether one element of the dtype contains two 4-bit numbers."""
    return name_of(dtype) == "float4_e2m1fn_x2"


def unpaired(tensor):
    """Returns the 4-bit numbers of a tensor, with the last dimension doubled. The low bits of an element are the
    first number."""
    halves = tensor.view(torch.uint8).unsqueeze(-1)
    halves = torch.cat((halves & 15, halves >> 4), -1).to(torch.int64)
    return torch.tensor([*PAIRED, *(-value for value in PAIRED)], device=tensor.device)[halves].flatten(-2)


def paired(tensor, dtype):
    """Rounds numbers to 4 bits and packs two into one element, which halves the last dimension."""
    steps = torch.tensor([(low + high) / 2 for low, high in zip(PAIRED, PAIRED[1:])], device=tensor.device)
    codes = torch.bucketize(tensor.abs(), steps).to(torch.uint8) | ((tensor < 0).to(torch.uint8) << 3)
    low, high = codes.unflatten(-1, (-1, 2)).unbind(-1)
    return (low | (high << 4)).view(dtype)


def written_out(shape, dtype):
    """Returns the shape of a tensor's numbers; if an element contains two numbers, the last dimension is doubled."""
    return (*shape[:-1], 2 * (shape[-1] if shape else 1)) if is_pair(dtype) else shape


def cast(tensor, shape, dtype):
    """Converts numbers to a dtype. For float8_e8m0fnu, which has only powers of two and no sign, it takes absolute
    values first."""
    if is_pair(dtype):
        return paired(tensor, dtype).reshape(shape)
    return (tensor.abs() if name_of(dtype) == "float8_e8m0fnu" else tensor).to(dtype)


def bits(tensor):
    """Returns a view of the tensor in an integer type that torch can compare, or the tensor itself if torch can
    compare its type."""
    if is_small_float(tensor.dtype):
        return tensor.view(torch.uint8)
    signed = SIGNED.get(name_of(tensor.dtype))
    return tensor if signed is None else tensor.view(signed)


def largest(like):
    """Returns tensors of this shape and floating-point dtype: one filled with the largest finite number and, if the
    dtype has a sign, one filled with its negative."""
    if not is_small_float(like.dtype):
        limits = torch.finfo(like.dtype)
        return [like.new_full((), number).expand(like.shape) for number in (limits.max, limits.min)]
    code = LARGEST[name_of(like.dtype)]
    codes = {code, code | (0x88 if is_pair(like.dtype) else 0x80)}
    return [torch.full_like(bits(like), one).view(like.dtype) for one in sorted(codes)]


def dtype_of(name):
    if name not in DTYPES:
        raise ContractError(f"PyTorch {torch.__version__} on this device has no {name}; it has {', '.join(DTYPES)}")
    return DTYPES[name]


def seed_for(init, position):
    """Returns the seed of one tensor, a number below 2**63."""
    given = init.get("seed")
    return (1000003 * (position + 1) if given is None else int(given)) % 2**63


def number(init, key, default):
    value = init.get(key)
    return default if value is None else value


def make_random(kind, shape, dtype, init, generator, device):
    """Returns a tensor of random numbers. For complex types, randn is torch's: std is that of the complex number,
    and not of its two parts; uniform draws both parts."""
    if kind == "uniform" and dtype.is_complex:
        parts = torch.float64 if dtype == torch.complex128 else torch.float32
        return torch.view_as_complex(make_random(kind, (*shape, 2), parts, init, generator, device))
    if is_small_float(dtype):
        return cast(make_random(kind, written_out(shape, dtype), torch.float32, init, generator, device), shape, dtype)
    if kind == "randn" and (is_float(dtype) or dtype.is_complex):
        std, mean = number(init, "std", 1.0), number(init, "mean", 0.0)
        out = torch.randn(shape, dtype=dtype, device=device, generator=generator)
        return out if (std, mean) == (1, 0) else out * std + mean
    if kind == "uniform" and is_float(dtype):
        low, high = number(init, "low", 0.0), number(init, "high", 1.0)
        out = torch.rand(shape, dtype=dtype, device=device, generator=generator)
        return out if (low, high) == (0, 1) else low + (high - low) * out
    low, high = INT_RANGE.get(dtype) or INT_RANGE[name_of(dtype)]
    if kind == "uniform" and dtype != torch.bool:
        low, high = int(number(init, "low", 0)), int(number(init, "high", 100))
    out = torch.randint(low, high + 1, shape, dtype=torch.int64, device=device, generator=generator)
    return out.to(dtype)


def make_arange(shape, dtype, init, device):
    if not shape:
        raise ContractError("Init kind 'arange' needs a shape of one dimension or more")
    start, step = number(init, "start", 0), number(init, "step", 1)
    row = start + step * torch.arange(written_out(shape, dtype)[-1], dtype=torch.float64, device=device)
    return cast(row, shape[-1:], dtype).expand(shape).contiguous()


def make_init(spec, position, secret, device):
    """Returns a tensor on the device, filled as spec.init requires."""
    init, shape, dtype = spec["init"], tuple(spec.get("shape") or ()), dtype_of(spec.get("dtype") or "float32")
    kind = init.get("kind") or "randn"
    if kind in ("randn", "uniform"):
        parameters = [number(init, key, None) for key in ("mean", "std", "low", "high")]
        generator = seeding.generator(device, seed_for(init, position), secret, (kind, str(dtype), *parameters))
        return make_random(kind, shape, dtype, init, generator, device)
    if kind in ("zeros", "ones", "full"):
        value = {"zeros": 0.0, "ones": 1.0}.get(kind, number(init, "fill_value", 0.0))
        return cast(torch.full(written_out(shape, dtype), value, dtype=torch.float64, device=device), shape, dtype)
    if kind == "arange":
        return make_arange(shape, dtype, init, device)
    raise ContractError(f"Unsupported init kind: {kind}")


def make_data(spec, device):
    """Returns a tensor from spec.data, which is base64 of little-endian bytes in C order, possibly compressed with
    zlib. dtype and shape are those in data; if data has no shape, the spec's shape is used."""
    data = spec["data"]
    try:
        raw = base64.b64decode(data["data_b64"], validate=True)
        raw = zlib.decompress(raw) if data.get("compress") == "zlib" else raw
    except (ValueError, zlib.error) as error:
        raise ContractError(f"data_b64 cannot be decoded: {error}") from error
    dtype = dtype_of(data.get("dtype") or "float32")
    shape = tuple(data.get("shape") or spec.get("shape") or ())
    size = torch.empty((), dtype=dtype).element_size()
    count = 1
    for extent in shape:
        count *= extent
    if len(raw) != count * size:
        raise ContractError(f"data has {len(raw)} bytes, but shape {list(shape)} of {data.get('dtype', 'float32')} needs {count * size}")
    if not raw:
        return torch.empty(shape, dtype=dtype, device=device)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape).to(device)


def poison(tensor):
    """Fills a tensor with values that no correct answer contains, so that elements that a kernel does not write are
    detected."""
    if tensor.numel() == 0:
        return tensor
    if is_float(tensor.dtype):
        if is_small_float(tensor.dtype):
            tensor.view(torch.uint8).fill_(NAN.get(name_of(tensor.dtype), 0x7F))
        else:
            tensor.fill_(float("nan"))
    elif tensor.is_complex():
        tensor.fill_(complex("nan"))
    elif tensor.dtype == torch.bool:
        tensor.view(torch.uint8).fill_(1)
    else:
        bits(tensor).fill_(torch.iinfo(bits(tensor).dtype).max - 1)
    return tensor


def make_tensor(arg, position, secret, device):
    spec = arg.get("tensor_spec")
    name = arg.get("name")
    if spec is None:
        raise ContractError(f"Tensor argument '{name}' requires tensor_spec")
    try:
        if spec.get("data") is not None:
            return make_data(spec, device)
        if spec.get("init") is not None:
            return make_init(spec, position, secret, device)
        shape, dtype = tuple(spec.get("shape") or ()), dtype_of(spec.get("dtype") or "float32")
        return poison(torch.empty(shape, dtype=dtype, device=device))
    except Exception as error:  # noqa: BLE001 - such as a negative dimension, too little memory, or too large a number
        raise ContractError(f"Tensor argument '{name}': {error}") from error


def make_scalar(arg):
    kind, value = arg.get("type"), arg.get("value")
    casts = {"int": int, "float": float, "str": str, "bool": bool}
    if kind not in casts:
        raise ContractError(f"Unsupported argument type: {kind}")
    if value is None:
        raise ContractError(f"Scalar argument '{arg.get('name')}' requires value")
    try:
        return casts[kind](value)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ContractError(f"Scalar argument '{arg.get('name')}': {value!r} is no {kind}") from error


def materialise(io, secret, device, other=None, drawn=()):
    """Returns all arguments of a contract for one trial, in the contract's order. drawn has the arguments of another
    contract: an input that has the same name and description there is taken from it."""
    own = inputs_by_name(io)
    shared = {name: drawn[i] for name, (i, spec) in inputs_by_name(other).items() if own.get(name, (0, None))[1] == spec}

    def made(position, arg):
        if arg.get("type") != "tensor":
            return make_scalar(arg)
        return shared[arg.get("name")] if arg.get("name") in shared else make_tensor(arg, position, secret, device)

    return [made(position, arg) for position, arg in enumerate(arguments(io))]


def inputs_by_name(io):
    """Returns {name: (index, specification)} of the tensors that a kernel reads and whose name occurs once."""
    names = [arg.get("name") for arg in arguments(io)]
    return {names[i]: (i, spec) for i, role, spec in roles(io) if role != "output" and names.count(names[i]) == 1}


def arguments(io):
    """Returns the arguments that a contract lists, as the request has them, or an empty list without a contract."""
    return (io or {}).get("args") or []


def described(io):
    """Returns the arguments of a contract: value for a scalar; shape, dtype, and role for a tensor, without its
    elements."""
    def one(arg):
        if arg.get("type") != "tensor":
            return {"name": arg.get("name"), "value": make_scalar(arg)}
        spec = arg.get("tensor_spec") or {}
        given = spec.get("data") or spec
        return {"name": arg.get("name"), "shape": list(given.get("shape") or spec.get("shape") or ()), "dtype": given.get("dtype") or "float32", "role": arg.get("role") or "input"}

    return [one(arg) for arg in arguments(io)]


def unfilled(io, device):
    """Returns all arguments of a contract, with uninitialized tensors, because drawing their values takes time."""
    try:
        return [torch.empty(arg["shape"], dtype=dtype_of(arg["dtype"]), device=device) if "shape" in arg else arg["value"] for arg in described(io)]
    except (RuntimeError, TypeError) as error:  # a negative dimension, or too little memory
        raise ContractError(f"A tensor argument cannot be made: {error}") from error


def of_case(io, case):
    """Returns the contract with a case's values for scalars and shapes for tensors. Names of the case that the
    contract does not have are ignored; they can be arguments of the other kernel's contract."""
    def changed(arg):
        name = arg.get("name")
        if name not in case:
            return arg
        if arg.get("type") != "tensor":
            return {**arg, "value": case[name]}
        if not isinstance(case[name], list):
            raise ContractError(f"Tensor argument '{name}': a case gives its shape, such as [1024, 1024], and not {case[name]!r}")
        return {**arg, "tensor_spec": {**(arg.get("tensor_spec") or {}), "shape": case[name]}}

    return {**io, "args": [changed(arg) for arg in arguments(io)]} if io and case else io


def roles(io):
    """Returns (index, role, spec) of each tensor argument of a contract."""
    return [(i, a.get("role") or "input", a.get("tensor_spec") or {}) for i, a in enumerate(arguments(io)) if a.get("type") == "tensor"]


def stand_ins(io):
    """Returns all arguments of a contract for a compiler, with empty tensors, because a compiler uses only their
    dtypes."""
    return [
        torch.empty(0, dtype=dtype_of((arg.get("tensor_spec") or {}).get("dtype") or "float32")) if arg.get("type") == "tensor" else make_scalar(arg)
        for arg in arguments(io)
    ]


_OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.floordiv, ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"cdiv": lambda a, b: -(-a // b), "min": min, "max": max}


def evaluate_size(text, names):
    """Returns the value of a launch size such as "cdiv(n, 256)", an expression of the scalar arguments."""

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[node.func.id](*[value(argument) for argument in node.args])
        if isinstance(node, ast.Name):
            raise ContractError(f"Launch size '{text}': there is no scalar argument '{node.id}'")
        raise ContractError(f"Launch size '{text}': only + - * // %, cdiv, min, max, numbers and scalar arguments are allowed")

    try:
        return int(value(ast.parse(text, mode="eval").body))
    except (SyntaxError, ZeroDivisionError) as error:
        raise ContractError(f"Launch size '{text}': {error}") from error


def launch_dims(io, which, default):
    """Returns the contract's grid or block as (x, y, z), or the default if it has none."""
    dims = ((io or {}).get("launch") or {}).get(which)
    if not dims:
        return default
    names = {a["name"]: int(a["value"]) for a in io.get("args") or [] if a.get("type") == "int" and a.get("value") is not None}
    entries = (dims.get(axis) for axis in "xyz")
    return tuple(evaluate_size(e, names) if isinstance(e, str) else int(1 if e is None else e) for e in entries)
