"""The recording of one trial of a reference, on the device and on the host, and the comparison of a kernel's answer
with it.
"""

import functools
import math
import secrets
import zlib
from typing import Any, NamedTuple

import torch

import compare
import contract
import seeding
from sides import Lost

OVERHEAD = 1536  # memory that a recording needs for each output and input besides its elements, in bytes
PIECE = 1 << 22  # elements of an input that are summed at once
# Bytes of a trial's inputs or outputs that are compressed to estimate their content; zlib finds repetitions up to twice
# as far back
LOOKED_AT = 1 << 14


class Output:
    """One recorded output: its shape and dtype, and all its elements, or at most `most` of them at random places."""

    def __init__(self, tensor, most):
        self.form, self.device = torch.empty(tensor.shape, dtype=tensor.dtype, device="meta"), tensor.device
        self._most, self._seed = most, secrets.randbits(63) if tensor.numel() > most else None
        part = self.part(tensor)
        # Copies of pinned memory wait for nothing; whole answers would pin too much
        pinned = part.is_cuda and most < math.inf
        self.values = torch.empty(part.shape, dtype=part.dtype, pin_memory=pinned)
        self.values.copy_(part, non_blocking=pinned)

    def whole(self):
        return self._seed is None

    def places(self):
        """Returns the indices of the recorded elements. They are the same each time, because seed and device are the
        same."""
        generator = torch.Generator(self.device).manual_seed(self._seed)
        return torch.randint(self.form.numel(), (self._most,), device=self.device, generator=generator)

    def place(self, number):
        """Returns the index in the whole output of a recorded element."""
        return number if self.whole() else int(self.places()[number])

    def part(self, tensor):
        """Returns the elements of a tensor at the recorded places, on the device of the recorded output."""
        flat = tensor.detach().to(self.device).reshape(-1)
        if self.whole():
            return flat
        return contract.bits(flat)[self.places()].view(flat.dtype)  # torch cannot index fp8 and fp4 tensors


class Look(NamedTuple):
    """Identifies an input: its structure with all values except tensor elements (form), and a checksum of each
    tensor (sums)."""

    form: object
    sums: torch.Tensor


class Draw(NamedTuple):
    """One recorded trial: the secret and the identity of its inputs, and the reference's outputs."""

    secret: bytes
    look: Look
    sizes: list  # compressed size in bytes of the first elements of each input tensor
    outputs: list

    def differences(self, actual, tolerance, sums):
        """Works like compare.differences. Raises Lost if the inputs' checksums differ from the recorded ones. NaN is
        searched in all elements, because outputs are filled with it before the call. Each wait for a device takes
        milliseconds, so a correct answer needs only one."""
        compare.check_form([output.form for output in self.outputs], actual)
        pairs = [(output.values.to(output.device, non_blocking=True), output.part(tensor)) for output, tensor in zip(self.outputs, actual)]
        others, nan = (sums != self.look.sums).any(), any_of([has_nan(tensor) for tensor in self._searched(actual)], sums.device)
        found = int(4 * others + 2 * nan + any_of([unlike(*pair) for pair in pairs], sums.device))
        if found >= 4:
            raise Lost
        if found >= 2:
            for index, tensor in enumerate(actual):
                compare.refuse_nan(index, 0, *map(int, compare.nans(numbers_of(tensor))))
        if not found:
            return True, 0.0, 0.0, None
        expected, answers = zip(*pairs)
        *differences, first = compare.differences(expected, answers, tolerance)
        if first is not None:
            first["element"] = self.outputs[first["output"]].place(first["element"])
        return *differences, first

    def _searched(self, actual):
        """Returns the answers of which only some elements are compared and that can contain NaN."""
        return [tensor for output, tensor in zip(self.outputs, actual) if not output.whole() and (tensor.is_floating_point() or tensor.is_complex())]

    def bytes(self):
        return sum(OVERHEAD + output.values.numel() * output.values.element_size() for output in self.outputs) + OVERHEAD * len(self.look.sums)


def content(draws, tolerance, seeded):
    """Returns the smallest size in bytes of a source that contains the answers of all these trials within the
    tolerance, or the inputs if they are smaller. Repeated inputs count once. seeded means that the inputs follow
    from the state of a generator on the CPU, which a source could contain instead."""
    packer, total = zlib.compressobj(), 0
    seen: set[int] = set()
    for draw in draws:
        parts = beginnings([output.values for output in draw.outputs])
        answers = b"".join(told_by(part, tolerance.output(place)) for place, part in enumerate(parts))
        size = min(len(answers), len(packer.compress(answers) + packer.flush(zlib.Z_SYNC_FLUSH)))
        fresh = {known_by: size for known_by, size in zip(draw.look.sums.tolist(), draw.sizes) if known_by not in seen}
        seen.update(fresh)
        total += min(sum(fresh.values()), size, *[seeding.STATE] * seeded)
    return total


def packed(inputs):
    """Returns the compressed size in bytes of the first elements of each tensor."""
    return [len(zlib.compress(bytes_of(part))) for part in beginnings(inputs)]


def beginnings(tensors):
    """Returns the first elements of each tensor, on the host, in total at most about LOOKED_AT bytes."""
    most = LOOKED_AT // max(len(tensors), 1)
    return [tensor.detach().resolve_conj().reshape(-1)[: most // max(tensor.element_size(), 4)].contiguous().cpu() for tensor in tensors]


def told_by(values, tolerance):
    """Returns bytes that are equal for numbers within the tolerance: numbers are rounded to steps of twice the
    tolerance, which grow with the number if rtol is set."""
    atol, rtol = tolerance.atol, tolerance.rtol
    if atol == rtol == 0 or compare.is_exact(values.dtype, tolerance):
        return bytes_of(values)
    numbers = compare.numbers(values)
    numbers = torch.view_as_real(numbers).reshape(-1) if numbers.is_complex() else numbers
    if rtol > 0:
        least = max(atol, 1e-30) / rtol
        numbers = numbers.sign() * torch.log1p(numbers.abs() / least) / rtol
    else:
        numbers = numbers / atol
    steps = (numbers / 2).clamp(-(2.0**62), 2.0**62).round().to(torch.int64)
    # High bytes are mostly equal, so they come together
    return bytes_of(steps.view(torch.uint8).reshape(-1, 8).t().contiguous())


def bytes_of(part):
    return part.view(torch.uint8).numpy().tobytes() if part.numel() else b""


def numbers_of(tensor):
    """Returns the tensor in a dtype for which torch can detect NaN."""
    return compare.numbers(tensor) if contract.is_small_float(tensor.dtype) else tensor


def has_nan(tensor):
    return torch.isnan(numbers_of(tensor)).any()


def unlike(want, got):
    """Returns whether an element differs, as a tensor on the device."""
    return compare.unequal(want, got).any()


def any_of(flags, device):
    return torch.stack([flag.to(device) for flag in flags]).any() if flags else torch.zeros((), dtype=torch.bool, device=device)


def look(values, device):
    """Returns (the Look of an input, its tensors)."""
    tensors: list[Any] = []
    form = form_of(values, tensors)
    sums = [checksum(tensor).to(device) for tensor in tensors]
    return Look(form, torch.stack(sums) if sums else torch.zeros(0, dtype=torch.int64, device=device)), tensors


def form_of(value, tensors):
    """Returns an input with shape and dtype in place of each tensor, and appends the tensors to the list."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return tuple(value.shape), str(value.dtype)
    if isinstance(value, (list, tuple)):
        return [form_of(item, tensors) for item in value]
    if isinstance(value, dict):
        return {key: form_of(item, tensors) for key, item in value.items()}
    return value


def checksum(tensor):
    """Returns a weighted sum of all bits of a tensor, on its device. Parts of at most 32 bits have random weights of
    64 bits, so that even the highest bit of a part changes the sum if it moves to another part."""
    part = {1: torch.uint8, 2: torch.int16}.get(tensor.element_size(), torch.int32)
    flat = tensor.detach().contiguous().reshape(-1).view(part)
    total = torch.zeros((), dtype=torch.int64, device=flat.device)
    for number, piece in enumerate(flat.split(PIECE)):
        total += (piece * weights(flat.device)[: len(piece)]).sum() * (2 * number + 1)
    return total


@functools.cache
def weights(device):
    return torch.randint(-(1 << 63), (1 << 63) - 1, (PIECE,), generator=torch.Generator().manual_seed(secrets.randbits(63))).to(device)
