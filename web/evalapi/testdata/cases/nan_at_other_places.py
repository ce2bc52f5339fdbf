# body: {"equal_nan": true, "matched": 0.5}
# want: {"correctness": false, "validation_error": "~NaN where the reference has none"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sqrt(x)
def get_inputs():
    return [torch.randn(100, 10)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sqrt(x.roll(1, 1))
