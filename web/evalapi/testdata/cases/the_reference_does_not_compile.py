# want: {"compiled": true, "correctness": false, "fault": "reference", "ref_compilation_error": "~SyntaxError"}
# ref_kernel: torch
def forward(:
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sqrt(x)
