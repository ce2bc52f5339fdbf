# body: {"ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [64, 8], "init": {"kind": "randn"}}}]}}}
# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        return self.linear(x)
def get_init_inputs():
    return [8]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        return x @ self.linear.weight.t() + self.linear.bias
