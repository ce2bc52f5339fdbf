import triton
import triton.language as tl
from task import input_t, output_t


@triton.jit
def multiply(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for begin in range(0, K, BK):
        inner = begin + tl.arange(0, BK)
        left = tl.load(
            a + rows[:, None] * K + inner[None, :],
            mask=(rows[:, None] < M) & (inner[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + inner[:, None] * N + columns[None, :],
            mask=(inner[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total += tl.dot(left, right)
    tl.store(
        c + rows[:, None] * N + columns[None, :],
        total.to(tl.float16),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


def custom_kernel(data: input_t) -> output_t:
    a, b, out = data
    (m, k), n = a.shape, b.shape[1]
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    multiply[grid](a, b, out, m, n, k, BM=64, BN=64, BK=32)
    return out
