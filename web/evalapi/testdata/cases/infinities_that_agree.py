# body: {"infinite": "negative", "rtol": 0}
# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.masked_fill(x > 0.5, -torch.inf)
def get_inputs():
    return [torch.randn(100, 10)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.masked_fill(x > 0.5, -torch.inf)
