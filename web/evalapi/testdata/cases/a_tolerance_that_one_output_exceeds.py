# body: {"tolerances": {"values": {"atol": 0.1}}}
# want: {"correctness": false, "first_mismatch": "~name:indices"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        values, indices = torch.topk(x, 3)
        return {"values": values, "indices": indices}
def get_inputs():
    return [torch.randn(100, 10)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        values, indices = torch.topk(x, 3)
        return {"values": values + 0.05, "indices": indices + 1}
