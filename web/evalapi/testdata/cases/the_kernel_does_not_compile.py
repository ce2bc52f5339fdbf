# want: {"compiled": false, "correctness": false, "fault": null, "compilation_error": "~SyntaxError", "ref_runtime.mean": "positive", "speedup": null, "stage": "compiling"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sqrt(x)
def get_inputs():
    return [torch.rand(64, 64)]
# custom_kernel: torch
def forward(:
