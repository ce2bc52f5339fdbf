# want: {"compiled": true, "correctness": true}
# custom_kernel: torch
import torch, triton, triton.language as tl
def alloc(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)
triton.set_allocator(alloc)
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    b = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    b.store([m, n], a.load([m, n]) * 2)
class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        M, N = 2048, x.numel() // 2048
        k[(M // 64, N // 64)](x, y, M, N, 64, 64)
        return y
