"""Matches the inputs of two kernels, and compares their outputs. No code of a request runs in this module."""

import torch

import contract
from warpboard_compare import BadReference, Mismatch, Tolerance, beyond, count, first, gaps


def tolerance_of(request):
    """Returns the tolerance of a request. Requests call the field `matched` by its older name,
    required_matched_ratio."""
    return Tolerance.of({**request, "matched": request.get("required_matched_ratio") or 1, "fitting": bool(request.get("fitting"))})


def is_exact(dtype, tolerance):
    """Reports whether elements of a dtype must be equal, without a tolerance."""
    return tolerance.is_exact(not (dtype.is_floating_point or dtype.is_complex))


NO_INPUTS = "Input selection failed:\nCould not determine inputs for execution; provide IOContract, or get_inputs() in the source."


def read_by(io, values):
    """Returns a dict with the index in values of each tensor that a kernel reads, so that pairs can match the inputs
    of two kernels. Its key is the argument's name; for a value without an argument in io, its place among these
    tensors."""
    outputs = {i for i, role, _ in contract.roles(io) if role == "output"}
    names = dict(enumerate(arg.get("name") for arg in contract.arguments(io)))
    places = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor) and i not in outputs]
    return {names.get(i, place): i for place, i in enumerate(places)}


def pairs(left, right):
    """Returns pairs of indices of two kernels' inputs that belong together: inputs of the same name, and all other
    inputs in their order."""
    rest = zip([i for key, i in left.items() if key not in right], [i for key, i in right.items() if key not in left])
    return [(i, right[key]) for key, i in left.items() if key in right] + list(rest)


def pair(left_io, left, right_io, right):
    """Replaces tensors of the right kernel by those of the left one if size and dtype agree. The shape may differ."""
    for ours, theirs in pairs(read_by(left_io, left), read_by(right_io, right)):
        if left[ours].numel() == right[theirs].numel() and left[ours].dtype == right[theirs].dtype:
            right[theirs] = left[ours].reshape(right[theirs].shape)


def shapes(tensors):
    return "[" + ", ".join(str(t.shape) for t in tensors) + "]"


def check_form(expected, actual):
    """Raises Mismatch or BadReference if the outputs differ in number, shape, or dtype, or have no elements."""
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
    """Returns the number of NaN values and the index of the first one. Both are tensors on the tensor's device."""
    found = torch.isnan(tensor).flatten()
    return found.sum(), found.to(torch.int8).argmax() if found.numel() else found.sum()


def refuse_nan(index, expected, actual, at):
    """Raises BadReference if the reference's output has NaN, or Mismatch if the custom kernel's has. expected and
    actual are the numbers of NaN values in the two outputs; `at` is the index of the custom kernel's first."""
    if expected:
        raise BadReference(f"Output {index} of the reference holds NaN: nothing can be compared with it. Choose inputs that avoid it.")
    if actual:
        raise Mismatch(f"Output {index} of the custom kernel holds {actual} NaN where the reference has none; the first is element {at}")


def numbers(tensor):
    """Returns the tensor's values as float64 or complex128."""
    if contract.is_pair(tensor.dtype):
        return contract.unpaired(tensor).to(torch.float64)
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def plain(number):
    """Returns a number that JSON can represent; a complex number becomes a string."""
    return str(number) if isinstance(number, complex) else number


def same(one, other):
    """Reports whether two tensors are equal; tensors with NaN are not. Always returns False for fp8 and fp4 types."""
    return not contract.is_small_float(one.dtype) and equal(one, other)


def equal(one, other):
    """Reports whether dtypes and values are equal. Values of fp8, fp4, and unsigned types are compared by their
    bits."""
    return one.dtype == other.dtype and torch.equal(contract.bits(one), contract.bits(other))


def differences(expected, actual, tolerance):
    """Returns (True if all outputs are within the tolerance, largest difference, mean difference, first wrong
    element or None)."""
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
    """Returns one element as a number that JSON can represent; an integer type gives an int."""
    tensor = numbers(tensor) if contract.is_small_float(tensor.dtype) else tensor
    return plain(tensor.flatten()[at].item())


def facts(want, got, tolerance):
    """Returns a comparison of two tensors: the number of NaN values in want; the number of NaN values in got, and
    the index of the first; the number of wrong elements, and the index of the first; the largest and the mean
    difference; the number of elements. All values are copied from the device at once, because each copy makes the
    device switch from the kernel's context to the judge's. If NaN may agree with NaN, only NaN values that the other
    tensor lacks at this place are counted."""
    left, right = numbers(want), numbers(got)
    gap = gaps(left, right, tolerance)
    bad = (unequal(want, got), None) if is_exact(want.dtype, tolerance) else beyond(gap, right, left, tolerance)
    of_want, of_got = nans(left)[0], nans(right)
    if tolerance.equal_nan:
        of_want, of_got = of_want * 0, nans(torch.where(torch.isnan(left) == torch.isnan(right), 0.0, torch.nan))
    found = of_want, *of_got, count(*bad), first(*bad), gap.max(), gap.mean()
    return *torch.stack([number.to(torch.float64) for number in found]).tolist(), gap.numel()


def unequal(want, got):
    """Returns a mask of the elements that differ, for tensors of any dtype."""
    return contract.bits(want) != contract.bits(got)


def wrong(want, got, tolerance):
    """Returns the number of wrong elements, as a tensor on the device."""
    if is_exact(want.dtype, tolerance):
        return unequal(want, got).sum()
    left, right = numbers(want), numbers(got)
    return count(*beyond(gaps(left, right, tolerance), right, left, tolerance))
