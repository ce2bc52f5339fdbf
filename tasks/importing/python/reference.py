"""Checks answers against the problem's own reference, which task.py calls."""

import torch
from task import TOLERANCE, expected, generate_input  # noqa: F401  (the harness calls generate_input)


def ref_kernel(data):
    return expected(data)


def check_implementation(data, output):
    wanted, got = list(leaves(expected(data))), list(leaves(output))
    if len(wanted) != len(got):
        return False, f"The answer has {len(got)} parts, and the reference's has {len(wanted)}."
    for (name, want), (_, have) in zip(wanted, got):
        message = difference(want, have)
        if message:
            return False, f"{name}: {message}" if name else message
    return True, ""


def leaves(value, name=""):
    """Yields the tensors and numbers of an answer, each with its place in it."""
    if isinstance(value, dict):
        value = value.items()
    elif isinstance(value, (list, tuple)):
        value = enumerate(value)
    elif hasattr(value, "__dataclass_fields__") or hasattr(value, "to_tuple"):
        value = vars(value).items()
    else:
        yield name, value
        return
    for key, item in value:
        yield from leaves(item, f"{name}.{key}" if name else f"output {key}")


def difference(want, have):
    """Returns a sentence about a part of the answer that is wrong; empty if it is right."""
    if want is None or isinstance(want, str):
        return "" if want == have else f"The answer is {have!r}, and the reference's is {want!r}."
    if not hasattr(have, "shape") and not isinstance(have, (bool, int, float, complex)):
        return f"The answer is a {type(have).__name__} in place of numbers."
    want, have = torch.as_tensor(want).detach(), torch.as_tensor(have).detach()
    have = have.to(want.device)
    if want.shape != have.shape:
        return f"The answer has the shape {tuple(have.shape)}, and the reference's has {tuple(want.shape)}."
    if want.dtype != have.dtype:
        return f"The answer is of {have.dtype}, and the reference's of {want.dtype}."
    wrong, most = differing(want, have)
    count = int(wrong.sum())
    if count <= most:
        return ""
    at = int(wrong.reshape(-1).to(torch.int8).argmax())
    shown = [tensor.reshape(-1)[at].item() for tensor in (have, want)]
    return f"{count} of {wrong.numel()} elements differ. Element {at} is {shown[0]}, and the reference's is {shown[1]}."


def differing(want, have):
    """Returns the elements that differ by more than the tolerance, and how many may."""
    if not (want.is_floating_point() or want.is_complex()):
        return want != have, 0
    if want.element_size() < 4:
        want, have = want.float(), have.float()
    if torch.isnan(want).any():
        raise RuntimeError("The reference's answer has NaN, with which nothing can be compared.")
    gap = (want - have).abs()
    equal = want == have
    infinite = TOLERANCE.get("infinite", "equal")
    if infinite == "never":
        equal &= torch.isfinite(want)
    elif infinite == "negative":
        equal &= want != float("inf")
    within = torch.isfinite(gap) & (gap <= TOLERANCE["atol"] + TOLERANCE["rtol"] * want.abs())
    wrong = ~(within | equal)
    most = int((1 - TOLERANCE.get("matched", 1)) * wrong.numel() + 1e-6)
    cap = TOLERANCE.get("max_error")
    if cap is not None and bool((gap.nan_to_num(0) > cap).any()):
        return gap.nan_to_num(float("inf")) > cap, 0
    return wrong, most
