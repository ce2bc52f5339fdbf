# want: {"compiled": false, "compilation_error": "~get_init_inputs() returned a Linear, which cannot be handed to a kernel", "fault": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x):
        return self.part(x)
def get_inputs():
    return [torch.randn(64, 32)]
def get_init_inputs():
    return [torch.nn.Linear(32, 32)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x):
        return self.part(x)
