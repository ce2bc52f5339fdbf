# body: {"custom_kernel": {"source_files": {"helpers.py": "import torch\nfrom deeper import product\ndef relu(x):\n    return product(x).clamp(min=0)\n", "deeper.py": "def product(x):\n    return x @ x.t()\n"}}}
# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x @ x.t())
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
import helpers
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return helpers.relu(x)
