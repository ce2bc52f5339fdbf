# want: {"correctness": false, "validation_error": "Output 2: the reference returned None, the custom kernel 'anything'"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, 1, None
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, 1, "anything"
