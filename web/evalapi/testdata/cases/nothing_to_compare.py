# want: {"correctness": false, "fault": "reference", "validation_error": "~Neither kernel produced a tensor"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        x.relu_()
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        x.clamp_(min=0)
