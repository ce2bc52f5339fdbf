# body: {"matched": 0.95, "max_error": 0.5}
# want: {"correctness": false, "validation_error": "~max_error=0.5"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(100, 10)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        y[:4] += 1
        return y
