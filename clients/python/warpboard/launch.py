"""Launch sizes of a kernel: LaunchDim and LaunchConfig."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Optional, Union

from .model import Model, integer, required

#: A size: a number, or an expression over the contract's int arguments such as "cdiv(n, 256)".
Size = Union[int, str]

# Expressions that the server accepts: with + - * / // % and calls, and at least one name.
_EXPRESSION = re.compile(r"[\w\s()+*/%,-]*[A-Za-z_][\w\s()+*/%,-]*")


@dataclass
class LaunchDim(Model):
    """A size in up to three directions, each at least 1 or a symbolic expression."""

    x: Size = 1
    y: Size = 1
    z: Size = 1

    def check(self) -> None:
        self.x, self.y, self.z = (_size(getattr(self, axis), f"LaunchDim.{axis}") for axis in "xyz")


@dataclass
class LaunchConfig(Model):
    """Launch sizes of a kernel. None means: grid 1, block 256 threads, and the compiler's defaults for warps and
    stages."""

    grid: Optional[LaunchDim] = None
    block: Optional[LaunchDim] = None  # threads of a block; cuda only
    num_warps: Optional[int] = None  # triton only
    num_stages: Optional[int] = None  # triton only
    shared_mem: Optional[int] = None  # bytes of dynamic shared memory; cuda only
    kernel_name: Optional[str] = None  # the same as kernel_name in metadata; cuda and triton only

    PARTS = {"grid": LaunchDim, "block": LaunchDim}

    def check(self) -> None:
        self.num_warps = integer(self.num_warps, "LaunchConfig.num_warps", least=1)
        self.num_stages = integer(self.num_stages, "LaunchConfig.num_stages", least=0)
        self.shared_mem = integer(self.shared_mem, "LaunchConfig.shared_mem", least=0)


def _size(value: Any, where: str) -> Size:
    if not isinstance(value, str):
        return required(integer(value, where, least=1), where)
    if _EXPRESSION.fullmatch(value):
        return value
    if value.strip().isdigit():
        return required(integer(int(value), where, least=1), where)
    raise ValueError(f"{where}: {value!r} is neither a number nor an expression such as 'cdiv(n, 256)'")
