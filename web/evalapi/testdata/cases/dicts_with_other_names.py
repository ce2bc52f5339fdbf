# want: {"correctness": false, "validation_error": "Output names differ: ref=[max, mean], custom=[maximum, mean]"}
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
        return {"mean": x.mean(1), "maximum": x.max(1)[0]}
