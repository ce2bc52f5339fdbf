# want: {"correctness": false, "validation_error": "~Numerical outputs don't match"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.rand(64, 1000)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x * 0 + 7
