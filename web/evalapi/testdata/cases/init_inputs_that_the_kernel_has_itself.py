# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor
    def forward(self, x):
        return x * self.factor
def get_inputs():
    return [torch.randn(64, 32)]
def get_init_inputs():
    return [3]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + x + x
