"""Calls a submission's setup before the calls of a case, if the task or the request allows one. setup receives shapes
and constants, but no values of arrays."""

from __future__ import annotations

import os
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WORD = "warpboard setup"  # first item of a call's input that requests setup
LONGEST_NS = 60_000_000_000
NOTICED_NS = 10_000_000  # a longer call counts as a setup, even if the runner reports that there is none
_MOST_ITEMS = 16  # longer lists of numbers are described only by their length


def allowed() -> bool:
    """Reports whether a setup is allowed: if so, the worker has written a file to the current folder."""
    return os.path.exists("warpboard_setup")


class Prepared:
    """A submission whose setup is called before each case. Each call of the kernel gets its result as the keyword
    argument state."""

    def __init__(self, kernel: Callable[..., Any], module: Any):
        self._kernel, self._setup = kernel, getattr(module, "setup", None)
        self._state: dict[str, Any] = {}

    def __call__(self, data: Any) -> Any:
        if type(data) is tuple and len(data) == 2 and type(data[0]) is str and data[0] == WORD:
            self._state = {"state": self._setup(data[1])} if callable(self._setup) else {}
            return callable(self._setup)
        return self._kernel(data, **self._state)


def described(value: Any) -> Any:
    """Returns a description of an input: with shapes and types in place of arrays, and only the names of unknown
    types."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return {"shape": [int(size) for size in value.shape], "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        few = len(value) <= _MOST_ITEMS or not all(isinstance(item, (int, float, complex)) for item in value)
        return [described(item) for item in value] if few else {"length": len(value)}
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return {"value": value}
    return {"type": type(value).__name__}
