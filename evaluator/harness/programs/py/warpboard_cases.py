"""The cases of a stage: lines of "key: value; key: value"."""

from __future__ import annotations

import ast
import re
import secrets
import sys

from warpboard_report import EXIT_BAD_SPEC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PART = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(.*?)\s*", re.DOTALL)
_SEED_BITS = 61  # fits the seeds of torch's and NumPy's generators, and of KernelBot's programs


class Case:
    """Case is a line of the cases file and the arguments in it."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.arguments = {}
        for part in spec.split(";"):
            match = _PART.fullmatch(part)
            if match is None or match[2] == "":
                print(f"invalid case '{spec}': '{part}'", file=sys.stderr)
                sys.exit(EXIT_BAD_SPEC)
            self.arguments[match[1]] = _value(match[2])

    def fresh(self) -> dict[str, Any]:
        """Returns the arguments, with a new secret seed if they have one."""
        if not isinstance(self.arguments.get("seed"), int):
            return self.arguments
        return {**self.arguments, "seed": secrets.randbits(_SEED_BITS)}


def _value(text: str) -> Any:
    """Returns the value of a number, True, False, None, a list, or a tuple. Returns any other text unchanged."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def read_cases(path: str) -> list[Case]:
    with open(path, encoding="utf-8") as file:
        return [Case(line) for line in file.read().splitlines() if line.strip()]
