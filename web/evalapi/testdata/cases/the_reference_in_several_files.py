# body: {"ref_kernel": {"source_files": {"helpers.py": "def twice(x):\n    return 2 * x\n"}}, "custom_kernel": {"source_files": {"helpers.py": "def twice(x):\n    return 3 * x\n"}}}
# want: {"correctness": false, "fault": null}
# ref_kernel: torch
import helpers
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return helpers.twice(x)
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import helpers
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return helpers.twice(x)
