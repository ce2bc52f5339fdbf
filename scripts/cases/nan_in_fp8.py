# want: {"compiled": true, "correctness": false}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        return (a.float() + b.float()).to(torch.float8_e5m2)
def get_inputs():
    return [torch.randn(512, 512).to(torch.float8_e4m3fn), torch.randn(512, 512).to(torch.float8_e5m2)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        y = (a.float() + b.float()).to(torch.float8_e5m2)
        y.view(torch.uint8)[0, 0] = 0x7f
        return y
