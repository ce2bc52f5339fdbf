# body: {"baselines": ["torch.compile"]}
# want: {"correctness": true, "baselines": "~speedup_interval"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x).square().sum(-1)
def get_inputs():
    return [torch.randn(8192, 4096)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (torch.nn.functional.gelu(x) ** 2).sum(-1)
