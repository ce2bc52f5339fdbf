"""Calls a problem in KernelBench's form: Model, get_inputs, and get_init_inputs of problem.py."""

import inspect

import problem
import torch
from utils import set_seed

WEIGHTS = 42  # the seed of every model's weights
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# Dropout is active, as in KernelBench. A call then draws the same numbers each time.
DRAWS = "ropout" in inspect.getsource(problem)


def generate_input(seed: int):
    set_seed(seed)
    if DEVICE == "cpu" or not hasattr(torch.device, "__enter__"):
        return on_device(problem.get_inputs())
    with torch.device(DEVICE):  # large inputs take seconds on a CPU
        return on_device(problem.get_inputs())


def on_device(value):
    if isinstance(value, torch.Tensor):
        return value.to(DEVICE)
    if isinstance(value, (list, tuple)):
        return type(value)([on_device(item) for item in value])
    if isinstance(value, dict):
        return {key: on_device(item) for key, item in value.items()}
    return value


def call(model):
    """Returns a function of one input that calls a class like Model."""
    set_seed(WEIGHTS)
    given = on_device(getattr(problem, "get_init_inputs", list)())
    set_seed(WEIGHTS)
    made = model(**given) if isinstance(given, dict) else model(*given)
    if isinstance(made, torch.nn.Module):
        made = made.to(DEVICE)

    def run(data):
        if DRAWS:
            torch.manual_seed(WEIGHTS)
        with torch.no_grad():
            return made(*data)

    return run


def kernel(solution):
    """Returns a submission's custom_kernel, or calls its ModelNew."""
    return solution.custom_kernel if hasattr(solution, "custom_kernel") else call(solution.ModelNew)


_reference = []


def expected(data):
    if not _reference:
        _reference.append(call(problem.Model))
    return _reference[0](data)
