# want: {"correctness": true, "deterministic": false}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.rand(64, 1000)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    calls = 0
    def forward(self, x):
        Model.calls += 1
        return x * 2 + Model.calls * 1e-6
