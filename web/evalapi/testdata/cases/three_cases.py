# body: {"cases": [{"n": 10}, {"n": 100}, {"n": 1000}]}
# want: {"correctness": true, "deterministic": true, "speedup": "positive", "cases": "~arguments:map[n:1000]"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.sin() * 2
def get_inputs(n=5):
    return [torch.rand(n, 64)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.sin(x).mul_(2)
