# body: {"tolerances": {"valuess": {"atol": 0.1}}}
# want: {"correctness": false, "fault": "reference", "validation_error": "~tolerances -> valuess: the reference gives no output of this name; its outputs are values, indices"}
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
        return {"values": values, "indices": indices}
