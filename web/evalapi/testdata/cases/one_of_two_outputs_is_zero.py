# want: {"correctness": true, "vacuous": null, "remarks": "~Output 1: zeros would pass as well."}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 3, x * 1e-6
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + x + x, x * 1e-6
