# want: {"correctness": true, "vacuous": true, "vacuous_reason": "~A copy of input 1 would pass as well"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(y)
def get_inputs():
    return [torch.randn(64, 64), torch.rand(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return y.clone()
