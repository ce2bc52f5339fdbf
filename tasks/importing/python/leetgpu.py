"""Calls a challenge in LeetGPU's format: the class Challenge of problem.py. An input has one dict of arguments for each
call of solve, by name, in the order of its parameters."""

import problem
import torch
from core.challenge_base import Described
from utils import set_seed

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
CHALLENGE = problem.Challenge(DEVICE)
SIGNATURE = CHALLENGE.get_solve_signature()
WRITTEN = [name for name, (_, direction) in SIGNATURE.items() if direction != "in"]


def generate_input(seed: int, test: str):
    """Returns the arguments of all calls in the challenge's "example", "functional", or "performance" test."""
    set_seed(seed)
    made = getattr(CHALLENGE, f"generate_{test}_test")()
    tests = made if isinstance(made, list) else [made]
    return [{name: value_of(given[name]) for name in SIGNATURE} for given in tests]


def value_of(value):
    if isinstance(value, Described):
        return value.make(DEVICE)
    return value.to(DEVICE) if isinstance(value, torch.Tensor) else value


def call(solve):
    """Returns a function that calls solve once for each dict of an input, and returns the arguments that it wrote."""

    def run(data):
        with torch.no_grad():
            for given in data:
                solve(*given.values())
        return [[given[name] for name in WRITTEN] for given in data]

    return run


def kernel(solution):
    """Returns the submission's custom_kernel, or a function that calls its solve."""
    return solution.custom_kernel if hasattr(solution, "custom_kernel") else call(solution.solve)


def expected(data):
    copies = [{name: value.clone() if name in WRITTEN else value for name, value in given.items()} for given in data]
    return call(lambda *values: CHALLENGE.reference_impl(**dict(zip(SIGNATURE, values))))(copies)
