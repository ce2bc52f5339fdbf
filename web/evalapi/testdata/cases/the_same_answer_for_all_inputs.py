# want: {"correctness": true, "vacuous": true, "vacuous_reason": "~The answer to other inputs would pass as well"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.arange(x.shape[0]) * 2.5 + x.mean() * 1e-6
def get_inputs():
    return [torch.randn(256, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.arange(256) * 2.5
