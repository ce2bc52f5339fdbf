"""Calls a problem in KernelBench's form: Model, get_inputs, and get_init_inputs of problem.py."""

import inspect

import problem
import torch
from utils import set_seed

WEIGHTS = 42  # the seed of every model's weights
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# If the problem has dropout, it is active, as in KernelBench. Each call then uses the same seed, so that the reference
# and the submission drop the same elements.
DRAWS = "ropout" in inspect.getsource(problem)


def generate_input(seed: int):
    set_seed(seed)
    if DEVICE == "cpu" or not hasattr(torch.device, "__enter__"):
        return on_device(problem.get_inputs())
    with torch.device(DEVICE):  # create inputs on the GPU: on a CPU, large ones take seconds
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
    """Creates an instance of a class such as Model. Returns a function that calls it with a list of inputs."""
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
    """Returns the submission's custom_kernel, or a function that calls its ModelNew."""
    return solution.custom_kernel if hasattr(solution, "custom_kernel") else call(solution.ModelNew)


_reference = []


def expected(data):
    if not _reference:
        _reference.append(call(problem.Model))
    return _reference[0](data)
