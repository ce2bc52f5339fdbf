# want: {"correctness": false, "fault": null, "validation_error": "~mat1 and mat2 shapes cannot be multiplied"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x @ torch.randn(3, 3)
