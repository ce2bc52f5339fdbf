# body: {"setup": true}
# want: {"correctness": false, "fault": null, "validation_error": "~no room"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x, n):
        return x * n
def get_inputs():
    return [torch.randn(64, 32), 3]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x, n, state):
        return x * n
def setup(meta):
    raise ValueError('no room')
