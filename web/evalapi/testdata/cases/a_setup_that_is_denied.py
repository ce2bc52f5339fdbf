# body: {"setup": true}
# want: {"correctness": true, "setup_ns": "positive"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
import sys, time
def denies(self, meta):
    time.sleep(0.05)
    return False
sys.modules["__main__"].Served.setup = denies
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
