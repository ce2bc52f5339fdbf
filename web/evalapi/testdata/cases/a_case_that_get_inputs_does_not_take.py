# body: {"cases": [{"size": 10}]}
# want: {"correctness": false, "fault": "reference", "validation_error": "~unexpected keyword argument 'size'"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs(n=5):
    return [torch.rand(n, 64)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x + x
