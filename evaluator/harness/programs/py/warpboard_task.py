"""The functions of a task's reference.py."""

from __future__ import annotations

import json
import os
import secrets
import sys
import traceback

from warpboard_calls import TaskFailed
from warpboard_compare import BadReference, difference
from warpboard_numerics import Incomparable, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Task:
    """Task calls the task's functions. Their failures raise TaskFailed. ranks is the number of a call's GPUs, or None
    for a task without ranks."""

    def __init__(self, ranks: int | None = None) -> None:
        self._ranks = ranks
        try:
            from reference import generate_input

            self._check = _checker(sys.modules["reference"])
        except Exception as error:
            raise TaskFailed(blame("importing reference.py", error)) from error
        self._generate = generate_input
        self._exactly = getattr(sys.modules["reference"], "reference_fp64", None)

    def draw(self, arguments: dict[str, Any]) -> list[Any]:
        """Returns new inputs, one for each rank."""
        if self._ranks is None:
            return [self._drawn(arguments)]
        return [self._drawn({**arguments, "rank": rank}, rank) for rank in range(self._ranks)]

    def _drawn(self, arguments, device=None):
        """Returns a new input. It first seeds the global random generators, because the task may use them without
        seeding them."""
        random = sys.modules.get("random")
        if random is not None:
            random.seed(secrets.randbits(128))
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed([secrets.randbits(32) for _ in range(4)])
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(secrets.randbits(63))
            if device is not None and sys.modules["torch"].cuda.is_available():
                sys.modules["torch"].cuda.set_device(device)
        try:
            return self._generate(**arguments)
        except Exception as error:
            raise TaskFailed(blame("generate_input", error)) from error

    def check(self, inputs: list[Any], answers: list[Any]) -> tuple[bool, str]:
        """Checks the answers. Returns (right?, message)."""
        try:
            if self._ranks is None:
                good, message = self.verdict(inputs[0], answers[0])
            else:
                good, message = self.verdict(inputs, answers)
        except TaskFailed:
            raise
        except AssertionError as error:
            good, message = False, _assertion(error)
        except Exception as error:
            if _is_nothing(answers):
                return False, _NOTHING
            raise TaskFailed(blame("check_implementation", error) + " Either the answer's type or shape is not what the "
                             "task asks for, or the checker has a fault.") from error
        if not good and _is_nothing(answers):
            message = f"{_NOTHING} The checker reports: {message}" if message else _NOTHING
        return good, message

    def verdict(self, data: Any, answer: Any) -> tuple[bool, str]:
        """Calls the checker, and returns (right?, message). The checker may return (bool, message), a bool, a message
        or a list of messages that is empty if the answer is right, or None if it uses assert."""
        result = self._check(data, answer)
        if isinstance(result, tuple) and len(result) == 2:
            good, message = result
            return bool(good), str(message or "")
        if result is None or isinstance(result, str):
            return not result, result or ""
        if isinstance(result, list) and all(isinstance(line, str) for line in result):
            return not result, "\n".join(result)
        if isinstance(result, bool) or "bool" in str(getattr(result, "dtype", "")) and getattr(result, "shape", None) in ((), None):
            return bool(result), "" if result else "check_implementation returned False, without a message."
        raise TaskFailed(f"check_implementation returned a {type(result).__name__}: it must return (bool, message), or a message that is "
                         "empty if the answer is right.")

    def numerics(self, inputs: list[Any], answers: list[Any]) -> Iterator[tuple[str, Any]]:
        """Yields (field, value) for the report: the errors of right answers against the task's reference_fp64, if it
        has one. If reference_fp64 fails, it yields a note, and the answers remain right."""
        if self._exactly is None:
            return
        try:
            reference = self._exactly(inputs if self._ranks is not None else inputs[0])
            yield from lines(answers if self._ranks is not None else answers[0], reference)
        except Incomparable as unlike:
            yield "note", f"{unlike}."
        except Exception as error:
            yield "note", blame("reference_fp64", error)
        if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
            sys.modules["torch"].cuda.empty_cache()  # frees the memory that torch caches, for the runner's use


def _checker(reference: Any) -> Callable[[Any, Any], Any]:
    """Returns the task's checker. If it has none, returns a comparison with ref_kernel within the tolerance of
    task.yml."""
    if hasattr(reference, "check_implementation") or not os.path.exists(_TOLERANCE):
        from reference import check_implementation

        return check_implementation
    from reference import ref_kernel

    with open(_TOLERANCE, encoding="utf-8") as file:
        words = json.load(file)

    def check(data, output):
        try:
            return difference(ref_kernel(data), output, words)
        except BadReference as error:
            raise TaskFailed(f"{error}.") from error

    return check


_TOLERANCE = "warpboard_tolerance.json"
_NOTHING = ("custom_kernel returned None: it must return the answer. A kernel that writes the answer into an argument returns that "
            "argument, as in return out.")


def _is_nothing(answers):
    return all(answer is None for answer in answers)


def _assertion(error):
    """Returns the message of an assertion that failed in the checker, or its source line if it has no message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines:
        return "; ".join(lines[:4])[:300]
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"line {at.lineno} of {os.path.basename(at.filename)} does not hold: {at.line}"


def blame(where: str, error: BaseException) -> str:
    """Returns a sentence about an exception of the task's function."""
    text = str(error).strip()
    return f"{where} raised {type(error).__name__}: {text.splitlines()[0][:300] if text else 'no message'}."
