import triton
import triton.language as tl
from task import input_t, output_t


@triton.jit
def add(a, b, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside))  # planted: no mask for the store


def custom_kernel(data: input_t) -> output_t:
    a, b, out = data
    add[(triton.cdiv(out.numel(), 1024),)](a, b, out, out.numel(), BLOCK=1024)
    return out
