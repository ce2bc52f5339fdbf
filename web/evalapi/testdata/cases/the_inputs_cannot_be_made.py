# want: {"correctness": false, "fault": "reference", "validation_error": "~Trial 1 failed:"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
def get_inputs():
    return [torch.randn(64, 64, device="cuda")]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
