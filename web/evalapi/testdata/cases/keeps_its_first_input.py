# want: {"correctness": false, "remarks": "~lie at other addresses"}
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
    first = None
    def forward(self, x):
        Model.first = x if Model.first is None else Model.first
        return Model.first * 2
