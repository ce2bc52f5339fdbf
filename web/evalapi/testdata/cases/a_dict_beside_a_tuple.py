# want: {"correctness": true, "remarks": "~they were compared in their order"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {"mean": x.mean(1), "max": x.max(1)[0]}
def get_inputs():
    return [torch.randn(64, 512)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.mean(1), x.max(1)[0]
