# body: {"num_trials": 3, "ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [2147487744], "dtype": "int8", "init": {"kind": "arange", "start": 0, "step": 0}}}]}}}
# want: {"correctness": false}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.bitwise_not(x)
# custom_kernel: torch
import torch, triton, triton.language as tl
@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, ~tl.load(x + i, mask=i < n), mask=i < n)
class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), 4096)
        return y
