# body: {"setup": true, "cases": [{"n": 10}, {"n": 20}]}
# want: {"correctness": true, "setup_ns": "positive"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.sin()
def get_inputs(n=5):
    return [torch.rand(n, 64)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x, state):
        assert x.shape == state.shape
        return torch.sin(x, out=state)
def setup(meta):
    return torch.empty(meta[0]['shape'])
