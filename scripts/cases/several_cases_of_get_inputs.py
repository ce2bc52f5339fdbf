# body: {"cases": [{"n": 1024}, {"n": 65536}]}
# want: {"correctness": true, "deterministic": true, "cases": "~arguments", "profiling_error": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs(n=8):
    return [torch.rand(n, 1024)]
# custom_kernel: torch
import torch
import triton
import triton.language as tl
@triton.jit
def rows(x, out, n: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, n)
    v = tl.exp(tl.load(x + i) - tl.max(tl.load(x + i), 0))
    tl.store(out + i, v / tl.sum(v, 0))
class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows[(x.shape[0],)](x, out, x.shape[1])
        return out
