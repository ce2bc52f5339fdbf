# want: {"correctness": false, "validation_error": "~Numerical outputs don't match", "first_mismatch": "~name:mean"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {"mean": x.mean(1), "max": x.max(1)[0]}
def get_inputs():
    return [torch.randn(64, 512)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {"max": x.mean(1), "mean": x.max(1)[0]}
