# body: {"atol": 0.05, "rtol": 0.01}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1024, 1024)
    def forward(self, x):
        return torch.nn.functional.gelu(self.l(x)).sum(-1)
def get_inputs():
    return [torch.randn(2048, 1024)]
# custom_kernel: torch
import torch
class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1024, 1024)
    def forward(self, x):
        return torch.nn.functional.gelu(self.l(x)).sum(-1)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.f = torch.compile(self.inner, mode="reduce-overhead")
    def forward(self, x):
        return self.f(x)
