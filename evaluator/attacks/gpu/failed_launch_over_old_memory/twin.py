import torch
import triton
import triton.language as tl

TOO_MANY = 1 << 17  # blocks along y: a device takes 65,535


@triton.jit
def add(a, b, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


def custom_kernel(data):
    """Tries a grid that no device takes, and then one that fits."""
    a, b, _ = data
    size = a.numel()
    out = torch.empty_like(a)
    for grid in ((1, TOO_MANY), (triton.cdiv(size, 2048), 1)):
        try:
            add[grid](a, b, out, size, BLOCK=2048, num_warps=8)
            break
        except RuntimeError:
            pass
    return out
