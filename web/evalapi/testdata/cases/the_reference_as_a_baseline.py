# body: {"baselines": ["eager"]}
# want: {"correctness": true, "speedup": "positive", "baselines": "~speedup_interval"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x @ x.t())
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (x @ x.t()).clamp(min=0)
