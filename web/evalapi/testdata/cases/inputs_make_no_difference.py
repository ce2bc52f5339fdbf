# want: {"correctness": true, "vacuous": true, "vacuous_reason": "~Zeros would pass as well"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)
        torch.nn.init.zeros_(self.linear.weight); torch.nn.init.zeros_(self.linear.bias)
    def forward(self, x):
        return torch.relu(self.linear(x))
def get_inputs():
    return [torch.randn(256, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.zeros(256, 64)
