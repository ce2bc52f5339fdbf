"""Is it right? What two kernels are called with, and whether their outputs agree. No line of a request runs here."""

import torch

import contract
from warpboard_compare import BadReference, Mismatch, Tolerance, beyond, count, first, gaps


def tolerance_of(request):
    """The tolerance of a request, in which the matched share has an older name."""
    return Tolerance.of({**request, "matched": request.get("required_matched_ratio") or 1, "fitting": bool(request.get("fitting"))})


def is_exact(dtype, tolerance):
    """Reports whether elements of a type must be equal."""
    return tolerance.is_exact(not (dtype.is_floating_point or dtype.is_complex))


NO_INPUTS = "Input selection failed:\nCould not determine inputs for execution; provide IOContract, or get_inputs() in the source."


def read_by(io, values):
    """Returns the places of the tensors that a kernel reads, by their names in its contract, else by their places."""
    outputs = {i for i, role, _ in contract.roles(io) if role == "output"}
    names = dict(enumerate(arg.get("name") for arg in contract.arguments(io)))
    places = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor) and i not in outputs]
    return {names.get(i, place): i for place, i in enumerate(places)}


def pairs(left, right):
    """The same inputs of two sides: those of one name, and of the others the first with the first."""
    rest = zip([i for key, i in left.items() if key not in right], [i for key, i in right.items() if key not in left])
    return [(i, right[key]) for key, i in left.items() if key in right] + list(rest)


def pair(left_io, left, right_io, right):
    """Gives the right side the left one's tensors, wherever both have the same, perhaps in another shape."""
    for ours, theirs in pairs(read_by(left_io, left), read_by(right_io, right)):
        if left[ours].numel() == right[theirs].numel() and left[ours].dtype == right[theirs].dtype:
            right[theirs] = left[ours].reshape(right[theirs].shape)


def shapes(tensors):
    return "[" + ", ".join(str(t.shape) for t in tensors) + "]"


def check_form(expected, actual):
    """Count, shapes and dtypes must agree before numbers are looked at."""
    if not expected and not actual:
        raise BadReference("Neither kernel produced a tensor: there is nothing to compare. Return a tensor, or mark one as output.")
    if not any(t.numel() for t in (*expected, *actual)):
        raise BadReference("No output has an element: there is nothing to compare. Choose inputs that give some.")
    if not expected:
        raise BadReference(f"The reference gives no output: ref=[], custom={shapes(actual)}. Return a tensor, or mark one as output.")
    if [t.shape for t in expected] != [t.shape for t in actual]:
        raise Mismatch(f"Shape mismatch: ref={shapes(expected)}, custom={shapes(actual)}")
    if [t.dtype for t in expected] != [t.dtype for t in actual]:
        raise Mismatch(f"Dtype mismatch: ref={[str(t.dtype) for t in expected]}, custom={[str(t.dtype) for t in actual]}")


def nans(tensor):
    """Returns the number of NaN, and the index of the first, as numbers on the tensor's device."""
    found = torch.isnan(tensor).flatten()
    return found.sum(), found.to(torch.int8).argmax() if found.numel() else found.sum()


def refuse_nan(index, expected, actual, at):
    """Raises a Mismatch about NaN. expected and actual are the numbers of NaN of both; at is the index of the first
    actual one."""
    if expected:
        raise BadReference(f"Output {index} of the reference holds NaN: nothing can be compared with it. Choose inputs that avoid it.")
    if actual:
        raise Mismatch(f"Output {index} of the custom kernel holds {actual} NaN where the reference has none; the first is element {at}")


def numbers(tensor):
    """A tensor's values in double precision."""
    if contract.is_pair(tensor.dtype):
        return contract.unpaired(tensor).to(torch.float64)
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def plain(number):
    """A number as JSON can hold it: a complex one becomes its text."""
    return str(number) if isinstance(number, complex) else number


def same(one, other):
    """Reports whether all numbers are equal; NaN is not. It is quick, and may return False for fp8 types, which torch
    cannot compare."""
    return not contract.is_small_float(one.dtype) and equal(one, other)


def equal(one, other):
    """Reports whether types and numbers are equal; fp8 and unsigned types by their bits."""
    return one.dtype == other.dtype and torch.equal(contract.bits(one), contract.bits(other))


def differences(expected, actual, tolerance):
    """(within tolerance, largest difference, mean difference, first wrong element or None)."""
    close, largest, mean, wrong_one = True, 0.0, 0.0, None
    for index, (want, got) in enumerate(zip(expected, actual)):
        got, own = got.to(want.device), tolerance.output(index)
        if want.numel() == 0 or own.infinite == "equal" and same(want, got):
            continue
        of_want, of_got, nan_at, wrong, at, most, average, elements = facts(want, got, own)
        refuse_nan(index, of_want, int(of_got), int(nan_at))
        if wrong > own.most_wrong(elements):
            close, at = False, int(at)
            wrong_one = wrong_one or {"output": index, "element": at, "expected": element(want, at), "actual": element(got, at)}
        largest, mean = max(largest, most), max(mean, average)
    return close, largest, mean, wrong_one


def element(tensor, at):
    """A number as JSON can hold it; integers are whole."""
    tensor = numbers(tensor) if contract.is_small_float(tensor.dtype) else tensor
    return plain(tensor.flatten()[at].item())


def facts(want, got, tolerance):
    """NaN in want, NaN in got and where the first is, wrong elements and where the first is, largest and mean difference, elements. All
    are fetched at once: for each fetch a device has to change from the kernel's context to the judge's. NaN that may agree counts where
    the other has none."""
    left, right = numbers(want), numbers(got)
    gap = gaps(left, right, tolerance)
    bad = (unequal(want, got), None) if is_exact(want.dtype, tolerance) else beyond(gap, right, left, tolerance)
    of_want, of_got = nans(left)[0], nans(right)
    if tolerance.equal_nan:
        of_want, of_got = of_want * 0, nans(torch.where(torch.isnan(left) == torch.isnan(right), 0.0, torch.nan))
    found = of_want, *of_got, count(*bad), first(*bad), gap.max(), gap.mean()
    return *torch.stack([number.to(torch.float64) for number in found]).tolist(), gap.numel()


def unequal(want, got):
    """The elements that differ, of any type."""
    return contract.bits(want) != contract.bits(got)


def wrong(want, got, tolerance):
    """The number of elements that are wrong, on the device."""
    if is_exact(want.dtype, tolerance):
        return unequal(want, got).sum()
    left, right = numbers(want), numbers(got)
    return count(*beyond(gaps(left, right, tolerance), right, left, tolerance))
