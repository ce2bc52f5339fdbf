# body: {"atol": null, "rtol": null, "custom_kernel": {"metadata": {"class_name": "ModelNew"}}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        s = x.abs().amax(-1, keepdim=True).clamp(min=1e-10) / 448.0
        return (x / s).to(torch.float8_e4m3fn), s
def get_inputs():
    return [torch.randn(1024, 4096)]
# custom_kernel: torch
import torch, triton, triton.language as tl
@triton.jit
def q(x, y, s, n: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, n)
    v = tl.load(x + r * n + i)
    m = tl.maximum(tl.max(tl.abs(v), 0), 1e-10) / 448.0
    tl.store(y + r * n + i, (v / m).to(tl.float8e4nv))
    tl.store(s + r, m)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x, dtype=torch.float8_e4m3fn); s = torch.empty(x.shape[0], 1, device=x.device)
        q[(x.shape[0],)](x, y, s, x.shape[1])
        return y, s
