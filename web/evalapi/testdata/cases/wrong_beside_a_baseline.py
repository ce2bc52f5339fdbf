# body: {"baselines": ["torch.compile", "eager"]}
# want: {"correctness": false, "speedup": null, "validation_error": "~Beside the baseline torch.compile, the kernel failed:\nNumerical outputs", "baselines": "~speedup_interval"}
# ref_kernel: torch
import torch
torch.compile = lambda call: lambda *values: call(*values) * 2
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
