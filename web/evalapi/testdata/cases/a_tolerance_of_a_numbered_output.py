# body: {"matched": 1, "tolerances": {"1": {"matched": 0.95}}}
# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, x * 3
def get_inputs():
    return [torch.randn(100, 10)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        y = x * 3
        y[:4] += 1
        return x * 2, y
