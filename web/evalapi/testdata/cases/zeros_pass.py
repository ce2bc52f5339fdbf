# want: {"correctness": true, "deterministic": true, "vacuous": true, "vacuous_reason": "~Zeros would pass as well"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.rand(64, 1000)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
