# body: {"files": {"helper.py": "x = 1"}, "num_warmup": 3, "index": 7}
# want: {"correctness": true, "remarks": "~Unknown fields were ignored: files, num_warmup."}
# kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sqrt(x)
def get_inputs():
    return [torch.rand(64, 64)]
