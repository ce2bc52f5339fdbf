"""Calls a problem in the format of SOL-ExecBench and FlashInfer Trace: the function run of problem.py, with the inputs
that definition.json describes."""

import base64
import inspect
import json
import os
import zlib

import problem
import torch
from utils import set_seed


def read(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return json.load(file)


DEFINITION = read("definition.json")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def generate_input(seed: int, workload=None, **values):
    """Returns the inputs in the definition's order. values has the axes and scalars; workload is the number of the
    workload in tensors.json, or None if no input is stored."""
    set_seed(seed)
    sizes = axes({name: values[name] for name in DEFINITION["axes"] if name in values})
    scalars = {name: value for name, value in values.items() if name not in sizes}
    make = DEFINITION["custom_inputs_entrypoint"]
    made = getattr(problem, make)({**sizes, **scalars}, torch.device(DEVICE)) if make else {}
    made = {**made, **stored(workload), **scalars}
    return [
        on_device(made[name]) if name in made else draw(name, spec, sizes) for name, spec in DEFINITION["inputs"].items()
    ]


def axes(given):
    sizes = {name: axis["value"] for name, axis in DEFINITION["axes"].items() if axis["type"] == "const"} | given
    for name, axis in DEFINITION["axes"].items():
        if axis["type"] == "expr":
            sizes[name] = int(eval(axis["expression"], {"__builtins__": {}}, sizes))
    return sizes


def shape_of(spec, sizes):
    return [int(axis) if axis.isdigit() else sizes[axis] for axis in spec["shape"]]


def stored(workload):
    """Returns the inputs of a workload that the importer copied from safetensors files."""
    if workload is None:
        return {}
    tensors = {}
    for name, one in read("tensors.json")[str(workload)].items():
        data = bytearray(zlib.decompress(base64.b64decode(one["data"])))
        tensors[name] = torch.frombuffer(data, dtype=getattr(torch, one["dtype"])).reshape(one["shape"])
    return tensors


def draw(name, spec, sizes):
    """Returns a random input. Its name may restrict the values: a variance, for example, is positive, because the
    reference would be undefined otherwise."""
    dtype = getattr(torch, spec["dtype"])
    shape = () if spec["shape"] is None else shape_of(spec, sizes)
    if dtype is torch.bool:
        value = torch.randint(0, 2, shape, device=DEVICE, dtype=dtype)
    elif not dtype.is_floating_point:
        reach = 128 if dtype is torch.int8 else 1024
        value = torch.randint(-reach, reach, shape, device=DEVICE, dtype=dtype)
    else:
        value = in_range(name.rstrip("0123456789"), torch.randn(shape, device=DEVICE))
        value = (value.clamp(-2, 2) if spec["dtype"].startswith("float8") else value).to(dtype)
    return value.item() if spec["shape"] is None else value


def in_range(name, value):
    last = name.split("_")[-1]
    if "norm" in name and last in ("weight", "bias"):
        return torch.ones_like(value) if last == "weight" else torch.zeros_like(value)
    if last in ("std", "rstd", "var", "variance"):
        return value.abs() + 0.1
    if last == "mask":
        return (value > 0).float()
    if last == "probs":
        return value.softmax(-1)
    if last in ("weight", "weights", "proj") and value.dim() > 1:
        return value / value.shape[-1] ** 0.5
    return value


def on_device(value):
    return value.to(DEVICE) if isinstance(value, torch.Tensor) else value


def call(run):
    """Returns a function that calls run with a list of inputs, and returns the outputs. If run also has parameters for
    the outputs, it gets empty tensors and writes the outputs there."""
    inputs, outputs = DEFINITION["inputs"], DEFINITION["outputs"]
    try:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        takes = sum(parameter.kind in kinds for parameter in inspect.signature(run).parameters.values())
    except (TypeError, ValueError):  # a compiled function may have no signature
        takes = len(inputs)

    def returns(data):
        with torch.no_grad():
            return ordered(run(*data))

    def writes(data):
        sizes = {}
        for spec, value in zip(inputs.values(), data):
            if spec["shape"] is not None:
                sizes.update(zip(spec["shape"], value.shape))
        sizes = axes({name: size for name, size in sizes.items() if name in DEFINITION["axes"]})
        made = [
            torch.empty(shape_of(spec, sizes), dtype=getattr(torch, spec["dtype"]), device=DEVICE) for spec in outputs.values()
        ]
        run(*data, *made)
        return made

    return writes if takes == len(inputs) + len(outputs) else returns


def ordered(result):
    """Returns the outputs in the definition's order."""
    if isinstance(result, dict):
        return [result[name] for name in DEFINITION["outputs"]]
    return list(result) if isinstance(result, (list, tuple)) else [result]


def kernel(solution):
    """Returns a submission's custom_kernel, or calls its run."""
    return solution.custom_kernel if hasattr(solution, "custom_kernel") else call(solution.run)


def expected(data):
    return call(problem.run)(data)
