# want: {"correctness": false, "validation_error": "~Numerical outputs don't match"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.argmax(1)
def get_inputs():
    x = torch.randn(64, 4096)
    x[:, :512] = -9
    return [x]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x.argmax(1) + 4
