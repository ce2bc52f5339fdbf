# body: {"equal_nan": true}
# want: {"correctness": true}
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
        return torch.sqrt(x)
