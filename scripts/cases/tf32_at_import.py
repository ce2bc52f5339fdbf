# body: {"atol": 0.05, "rtol": 0.05}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(256, 256) * 0.05)
    def forward(self, x):
        return x @ self.w
def get_inputs():
    return [torch.randn(256, 256)]
# custom_kernel: torch
import torch
torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(256, 256) * 0.05)
    def forward(self, x):
        return x @ self.w
