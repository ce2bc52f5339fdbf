import triton
import triton.language as tl
from task import input_t, output_t


@triton.jit
def add(a, b, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


def custom_kernel(data: input_t) -> output_t:
    """Eight elements a thread: every load is 16 bytes wide."""
    a, b, out = data
    block = 2048
    add[(triton.cdiv(out.numel(), block),)](a, b, out, out.numel(), BLOCK=block, num_warps=8)
    return out
