# body: {"atol": 0.01, "rtol": 0.01}
# want: {"correctness": true, "vacuous": true, "vacuous_reason": "~eros"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.rand(1024, 65536)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
