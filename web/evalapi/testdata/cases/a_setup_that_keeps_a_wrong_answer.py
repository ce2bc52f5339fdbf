# body: {"setup": true}
# want: {"correctness": false}
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
        return state
def setup(meta):
    return torch.randn(meta[0]['shape']) * meta[1]['value']
