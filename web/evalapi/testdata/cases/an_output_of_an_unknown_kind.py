# want: {"correctness": false, "fault": null, "validation_error": "~The kernel returned a set: outputs must be tensors"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, 3
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, {3}
