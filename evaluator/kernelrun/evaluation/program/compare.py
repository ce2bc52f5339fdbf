"""Is it right? Each trial has fresh inputs, poisoned outputs and a fresh verdict."""

import torch

import contract

TRIALS = 2


class Mismatch(Exception):
    """The custom kernel's outputs are not the reference's; the message says how."""


def copy_values(values):
    return [v.clone() if isinstance(v, torch.Tensor) else v for v in values]


def synchronise(device):
    if device != "cpu":
        torch.cuda.synchronize()


def poison_freed(outputs, device):
    """Fills memory of the outputs' sizes with poison and frees it again, so that the next kernel
    that allocates its result without writing it shows poison and not an old right answer."""
    blocks = [contract.poison(torch.empty_like(t)) for t in outputs for _ in range(2)]
    synchronise(device)
    del blocks


def call(kernel, values, device):
    """One checked call on its own copy of the values; returns copies of the outputs."""
    values = copy_values(values)
    for index, role, spec in kernel.roles():
        if role == "output" and spec.get("init") is None and spec.get("data") is None:
            contract.poison(values[index])
    outputs = kernel(values)
    synchronise(device)
    return copy_values(outputs)


NO_INPUTS = "Input selection failed:\nCould not determine inputs for execution; provide IOContract, or get_inputs() in the source."


def run_trials(kernel, device, report):
    """/evaluate: every trial must run to its end."""
    for trial in range(TRIALS):
        report.update(total_trials=TRIALS, trials_begun=trial + 1)
        if not kernel.has_inputs():
            raise Mismatch(NO_INPUTS)
        values = kernel.inputs(trial)
        poison_freed(call(kernel, values, device), device)
        report["trials_passed"] = trial + 1


def read_by(kernel, values):
    """Where the tensors are that a kernel reads, by their names in its contract, else by their places."""
    outputs = {i for i, role, _ in kernel.roles() if role == "output"}
    names = dict(enumerate(arg.get("name") for arg in kernel.args()))
    places = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor) and i not in outputs]
    return {names.get(i, place): i for place, i in enumerate(places)}


def pairs(left, right):
    """The same inputs of two sides: those of one name, and of the others the first with the first."""
    rest = zip([i for key, i in left.items() if key not in right], [i for key, i in right.items() if key not in left])
    return [(i, right[key]) for key, i in left.items() if key in right] + list(rest)


def paired_inputs(ref, custom, trial):
    """Inputs of both sides of one trial: bit-identical wherever both have the same tensor. A side
    without inputs of its own takes the other's, with the contract that says what they are."""
    for one, other in ((ref, custom), (custom, ref)):
        if not one.has_inputs() and other.has_inputs():
            one.io = one.io or other.io
    left = ref.inputs(trial) if ref.has_inputs() else None
    right = custom.inputs(trial) if custom.has_inputs() else None
    if left is None and right is None:
        raise Mismatch(NO_INPUTS)
    if left is None:
        return copy_values(right), right
    if right is None:
        return left, copy_values(left)
    for ours, theirs in pairs(read_by(ref, left), read_by(custom, right)):
        if left[ours].shape == right[theirs].shape and left[ours].dtype == right[theirs].dtype:
            right[theirs] = left[ours].clone()
    return left, right


def shapes(tensors):
    return "[" + ", ".join(str(t.shape) for t in tensors) + "]"


def check_form(expected, actual):
    """Count, shapes and dtypes must agree before numbers are looked at."""
    if not expected and not actual:
        raise Mismatch("Neither kernel produced a tensor: there is nothing to compare. Return a tensor, or mark one as output.")
    if not any(t.numel() for t in (*expected, *actual)):
        raise Mismatch("No output has an element: there is nothing to compare. Choose inputs that give some.")
    if [t.shape for t in expected] != [t.shape for t in actual]:
        raise Mismatch(f"Shape mismatch: ref={shapes(expected)}, custom={shapes(actual)}")
    if [t.dtype for t in expected] != [t.dtype for t in actual]:
        raise Mismatch(f"Dtype mismatch: ref={[str(t.dtype) for t in expected]}, custom={[str(t.dtype) for t in actual]}")


def check_nan(index, expected, actual):
    if torch.isnan(expected).any():
        raise Mismatch(f"Output {index} of the reference holds NaN: nothing can be compared with it. Choose inputs that avoid it.")
    count = int(torch.isnan(actual).sum())
    if count:
        at = int(torch.isnan(actual).flatten().to(torch.int8).argmax())
        raise Mismatch(f"Output {index} of the custom kernel holds {count} NaN where the reference has none; the first is element {at}")


def numbers(tensor):
    """A tensor's values as float64; a complex number is two."""
    return (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).to(torch.float64)


def differences(expected, actual, atol, rtol):
    """(within tolerance, largest difference, mean difference, first wrong element or None)."""
    close, largest, mean, first = True, 0.0, 0.0, None
    for index, (want, got) in enumerate(zip(expected, actual)):
        if want.numel() == 0:
            continue
        want, got = numbers(want), numbers(got)
        check_nan(index, want, got)
        gap = (want - got).abs()
        gap[want == got] = 0.0  # equal infinities
        # As torch.allclose: an infinite gap is never within tolerance, not even of an infinite one.
        wrong = ~(torch.isfinite(gap) & (gap <= atol + rtol * got.abs()))
        if bool(wrong.any()) and first is None:
            at = int(wrong.flatten().to(torch.int8).argmax())
            first = {"output": index, "element": at, "expected": float(want.flatten()[at]), "actual": float(got.flatten()[at])}
        close = close and not bool(wrong.any())
        largest, mean = max(largest, float(gap.max())), max(mean, float(gap.mean()))
    return close, largest, mean, first


def compare_trials(ref, custom, device, atol, rtol, report):
    """/compare: all trials must agree. What was seen goes into report as it is learned."""
    passed, worst, mean, first = 0, 0.0, 0.0, None
    report.update(total_trials=TRIALS, trials_passed=0)
    for trial in range(TRIALS):
        report["trials_begun"] = trial + 1
        left, right = paired_inputs(ref, custom, trial)
        expected = call(ref, left, device)
        poison_freed(expected, device)
        actual = call(custom, right, device)
        check_form(expected, actual)
        close, largest, average, wrong = differences(expected, actual, atol, rtol)
        passed, worst, mean, first = passed + close, max(worst, largest), max(mean, average), first or wrong
        report.update(trials_passed=passed, max_difference=worst, avg_difference=mean)
    if passed < TRIALS:
        report["first_mismatch"] = first
        raise Mismatch(
            f"Numerical outputs don't match within tolerance. Trials passed: {passed}/{TRIALS}. "
            f"Max difference: {worst:.6e}, Avg difference: {mean:.6e}. Tolerance: atol={atol}, rtol={rtol}"
        )
