"""A submission's setup before the calls of a case, if the task or the request allows one. It sees shapes and constants, but no values of arrays."""

from __future__ import annotations

import os
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WORD = "warpboard setup"  # begins the input of a call that is a setup
LONGEST_NS = 60_000_000_000
NOTICED_NS = 10_000_000  # a call that takes longer was a setup, even if the submission's process denies it
_MOST_ITEMS = 16  # of a list of numbers that is described item by item


def allowed() -> bool:
    """Reports whether the task allows a setup: the worker has put a file beside it."""
    return os.path.exists("warpboard_setup")


class Prepared:
    """A submission whose setup is called before each case. Its result comes to each call as the keyword state."""

    def __init__(self, kernel: Callable[..., Any], module: Any):
        self._kernel, self._setup = kernel, getattr(module, "setup", None)
        self._state: dict[str, Any] = {}

    def __call__(self, data: Any) -> Any:
        if type(data) is tuple and len(data) == 2 and type(data[0]) is str and data[0] == WORD:
            self._state = {"state": self._setup(data[1])} if callable(self._setup) else {}
            return callable(self._setup)
        return self._kernel(data, **self._state)


def described(value: Any) -> Any:
    """Returns an input without the values of its arrays and of objects of unknown types."""
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
