"""Helpers for reference.py of Python tasks, for torch tensors and NumPy arrays. A task can replace this file by its own
utils.py."""

from __future__ import annotations

import os
import random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Looked up at import, before a submission can replace them.
_ISCLOSE = {name: sys.modules[name].isclose for name in ("numpy", "torch") if name in sys.modules}


def set_seed(seed: int = 42) -> None:
    """Seeds every generator that is loaded."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed % 2**63)


def verbose_allclose(received: Any, expected: Any, rtol: float = 1e-05, atol: float = 1e-08,
                     max_print: int = 5) -> list[str]:
    """Returns a list of lines about the differences of two arrays; empty if they agree within atol + rtol * |expected|.
    NaN agrees with NaN, and each infinity with itself. The received type must not be wider than the expected one. It
    may be narrower if the expected type has eight bytes and the received one four, or if its rounding is within
    rtol."""
    mismatch = _type_mismatch(received, expected, rtol)
    if mismatch:
        return [mismatch]
    library, received, expected = _comparable(received, expected)
    if received.shape != expected.shape:
        return [f"SIZE MISMATCH: expected {tuple(expected.shape)}, got {tuple(received.shape)}"]
    agree = _ISCLOSE.get(library.__name__, library.isclose)(received, expected, rtol=rtol, atol=atol, equal_nan=True)
    return _differences(library, ~agree, received, expected, max_print)


def verbose_allequal(received: Any, expected: Any, max_print: int = 5) -> list[str]:
    """Like verbose_allclose, for arrays that must be equal."""
    mismatch = _type_mismatch(received, expected)
    if mismatch:
        return [mismatch]
    library, received, expected = _comparable(received, expected)
    if received.shape != expected.shape:
        return [f"SIZE MISMATCH: expected {tuple(expected.shape)}, got {tuple(received.shape)}"]
    return _differences(library, received != expected, received, expected, max_print)


def match_reference(data: Any, output: Any, reference: Callable[[Any], Any], rtol: float = 1e-05,
                    atol: float = 1e-08) -> tuple[bool, str]:
    """Compares output with reference(data). Returns (agrees, message)."""
    lines = verbose_allclose(output, reference(data), rtol=rtol, atol=atol)
    if lines:
        first = "; ".join(lines[:2])  # a short message: the number of differences, and the first one
        return False, "\n".join([f"mismatch found! custom implementation doesn't match reference: {first}", *lines[2:]])
    return True, ""


def make_match_reference(reference: Callable[[Any], Any], **kwargs: Any) -> Callable[[Any, Any], tuple[bool, str]]:
    """Makes a check_implementation(data, output) from a reference function."""

    def check(data, output):
        return match_reference(data, output, reference=reference, **kwargs)

    return check


def clear_l2_cache() -> None:
    """Fills the GPU's L2 cache with other data."""
    import torch

    torch.full((32, 1024, 1024), 42, dtype=torch.int64, device="cuda")


class DeterministicContext:
    """Makes torch's operations deterministic inside a with block."""

    def __enter__(self) -> DeterministicContext:
        import torch

        self._deterministic = torch.are_deterministic_algorithms_enabled()
        self._workspace = os.environ.get("CUBLAS_WORKSPACE_CONFIG")
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        torch.use_deterministic_algorithms(True)
        return self

    def __exit__(self, *_: object) -> None:
        import torch

        torch.use_deterministic_algorithms(self._deterministic)
        if self._workspace is None:
            os.environ.pop("CUBLAS_WORKSPACE_CONFIG", None)
        else:
            os.environ["CUBLAS_WORKSPACE_CONFIG"] = self._workspace


_KINDS = ("bool", "int", "float", "complex")  # each kind includes the kinds before it
_SIGNIFICANT_BITS = {"float32": 24, "float16": 11, "bfloat16": 8, "float8_e4m3fn": 4, "float8_e4m3fnuz": 4, "float8_e5m2": 3, "float8_e5m2fnuz": 3}


def _type_mismatch(received, expected, rtol=0.0):
    """Returns a line with both types if the received type is not the expected one, else an empty string."""
    wanted, got = _type_of(expected), _type_of(received)
    fits = {"tensor": ("tensor",), "array": ("array",), "number": ("number", "array"),
            "sequence": ("sequence", "array")}.get(wanted[0], (wanted[0],))
    if wanted[0] == "array" and not expected.shape:
        fits = ("array", "number")
    if got[0] in fits and got[1] == wanted[1] and got[1] not in _KINDS:
        return ""  # not numbers, but texts or dates, which are compared by their values
    if got[0] in fits and got[1] in _KINDS and wanted[1] in _KINDS:
        rank = [max(_KINDS.index(kind), 1) for kind in (got[1], wanted[1])]
        if rank[0] <= rank[1] and (rank[0] < rank[1] or got[2] <= wanted[2] or not wanted[2]) and _is_wide_enough(received, got, wanted, rtol):
            return ""
    return f"TYPE MISMATCH: expected {wanted[3]}, got {got[3]}"


def _is_wide_enough(received, got, wanted, rtol):
    """Reports whether the received type is wide enough: a narrower type would save memory traffic that the task
    requires. If the reference is in double precision, half its width is enough."""
    least = 8 if wanted[1] == "complex" else 4
    if not got[2] or got[2] >= min(wanted[2], max(wanted[2] // 2, least)):
        return True
    bits = _SIGNIFICANT_BITS.get(str(received.dtype).removeprefix("torch."), 0) if got[1] == wanted[1] == "float" else 0
    return bits > 0 and 2.0**-bits <= rtol


def _type_of(value):
    """Returns (container, kind, bytes, text): tensor, array, number, or sequence; the kind of its numbers; the bytes of
    a number (0 for Python's own numbers); and a text that describes the type."""
    kind = type(value)
    if hasattr(value, "detach"):
        name = str(value.dtype).removeprefix("torch.")
        return "tensor", _kind(name), value.element_size(), f"a tensor of {name}"
    if hasattr(value, "dtype"):
        return "array", _kind(value.dtype.name), value.dtype.itemsize, f"an array of {value.dtype.name}"
    if kind in (bool, int, float, complex):
        return "number", kind.__name__, 0, f"a {kind.__name__} number"
    if kind in (list, tuple):
        import numpy

        words = f"a {kind.__name__}"
        try:
            inner = numpy.asarray(value).dtype.name
        except Exception:  # for example, unequal lengths, or tensors
            return "sequence", "mixed", 0, f"{words} of unlike parts"
        return "sequence", _kind(inner), 0, f"{words} of {_kind(inner)} numbers" if _kind(inner) in _KINDS else words
    return kind.__name__, kind.__name__, 0, "None" if value is None else f"a {kind.__name__}"


def _kind(name):
    """Returns the kind of a dtype by its name: uint8 is int, bfloat16 and float8_e4m3fn are float."""
    return next((kind for kind in reversed(_KINDS) if kind in name), name)


def _comparable(received, expected):
    """Returns the library of expected (torch or numpy), and both as its arrays, on the device and with the type of
    expected. Tensors of small floats become float32, so that rounding does not change the comparison."""
    if hasattr(expected, "detach"):
        import torch

        expected = expected.detach()
        if expected.dtype.is_floating_point and expected.element_size() < 4:
            expected = expected.float()
        return torch, torch.as_tensor(received).detach().to(expected.device, expected.dtype), expected
    import numpy

    return numpy, numpy.asarray(received), numpy.asarray(expected)


def _differences(library, wrong, received, expected, max_print):
    if not wrong.any():
        return []
    indices = library.argwhere(wrong)
    lines = [f"Number of mismatched elements: {len(indices)}"]
    for index in indices[:max_print]:
        at = tuple(int(i) for i in index)
        lines.append(f"ERROR AT {at}: expected {expected[at]}, got {received[at]}")
    if len(indices) > max_print:
        lines.append(f"... and {len(indices) - max_print} more mismatched elements.")
    return lines
