# want: {"correctness": true, "remarks": "~Integers and booleans were compared exactly."}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x > 0, x.argmax(1)
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.gt(x, 0), torch.max(x, 1)[1]
