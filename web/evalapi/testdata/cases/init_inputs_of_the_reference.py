# want: {"compiled": true, "correctness": true, "vacuous": null, "fault": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.linear, self.scale = torch.nn.Linear(width, width), scale
    def forward(self, x):
        return self.linear(x) * self.scale
def get_inputs():
    return [torch.randn(64, 128)]
def get_init_inputs():
    return [128, torch.rand(1)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.linear, self.scale = torch.nn.Linear(width, width), scale
    def forward(self, x):
        return torch.addmm(self.linear.bias, x, self.linear.weight.t()) * self.scale
