"""Copies answers from shared memory to the judge's memory, where the judge checks them."""

from __future__ import annotations

import secrets

from warpboard_answer import build
from warpboard_wire import ANSWERS, CUDA, HOST, INPUTS, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from warpboard_answer import Part


class AnswerCopy:
    """AnswerCopy is an answer during its copy to the judge's memory."""

    def __init__(self, tree: list[Any], parts: list[Part], memory: dict[tuple[int, int], Any]) -> None:
        self.parts, self._tree = parts, tree
        self._sources = [memory[INPUTS if part.role == "inputs" else ANSWERS, part.kind] if part.size else None for part in parts]
        self._copies = [_allocate(part) for part in parts]

    def on_device(self, role: str = "") -> list[tuple[int, int, int]]:
        """Returns the copies (to, from, bytes) of the parts on the device, for the core. If role is set, only of parts
        in its region."""
        return [(copy.data_ptr(), source.address + part.offset, part.size)
                for part, source, copy in self._not_empty() if part.kind == CUDA and role in ("", part.role)]

    def take(self) -> None:
        """Copies the parts on the host."""
        _copy_blocks([(copy, _bytes_of(source, part.offset, part.size))
                      for part, source, copy in self._not_empty() if part.kind == HOST])

    def _not_empty(self):
        return [it for it in zip(self.parts, self._sources, self._copies) if it[0].size]

    def value(self) -> Any:
        try:
            return build(self._tree, [_shaped(part, copy) for part, copy in zip(self.parts, self._copies)])
        except Exception as error:  # NumPy and torch raise different errors for an impossible shape
            raise Refused(f"The runner described an answer that cannot be: {error}.") from None


def _allocate(part):
    if part.kind == CUDA:
        import torch

        return torch.empty(part.size, dtype=torch.uint8, device="cuda")
    import numpy

    return numpy.empty(part.size, "uint8")


def _shaped(part, copy):
    """Returns the array or tensor of a part from its copied bytes."""
    if part.name == "tensor":
        if part.kind == HOST:
            import torch

            # NumPy gives an empty array the stride 0.
            copy = torch.from_numpy(copy) if part.size else torch.empty(0, dtype=torch.uint8)
        return copy.view(part.dtype).as_strided(part.shape, part.strides)
    import numpy

    array = numpy.ndarray(part.shape, part.dtype, copy, 0, tuple(s * part.dtype.itemsize for s in part.strides))
    return array[()] if part.name == "scalar" else array


def _bytes_of(memory, offset, size):
    import numpy

    return numpy.frombuffer(memory, "uint8", size, offset)


_BLOCK = 1 << 18


def _copy_blocks(copies):
    """Copies the blocks of (target, source) pairs in a random order: otherwise a runner on the host could still write
    to parts that are copied last."""
    blocks = [(target, source, start) for target, source in copies for start in range(0, len(source), _BLOCK)]
    secrets.SystemRandom().shuffle(blocks)
    for target, source, start in blocks:
        target[start : start + _BLOCK] = source[start : start + _BLOCK]
