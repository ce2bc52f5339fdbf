# body: {"custom_kernel": {"metadata": {"class_name": "ModelNew"}}}
# want: {"compiled": true, "correctness": true}
# custom_kernel: torch
import torch, triton, triton.language as tl
@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b in (256, 1024, 4096) for w in (2, 4, 8)], key=["n"])
@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[lambda m: (triton.cdiv(x.numel(), m["B"]),)](x, y, x.numel())
        return y
