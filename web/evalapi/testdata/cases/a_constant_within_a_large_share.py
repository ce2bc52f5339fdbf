# body: {"rtol": 1, "atol": 0}
# want: {"correctness": false, "vacuous": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.full((64, 64), 1e30)
