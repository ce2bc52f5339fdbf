# body: {"atol": 1e-7, "rtol": 1e-5}
# want: {"correctness": true, "vacuous": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.rand(64, 1000)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x) / torch.exp(x).sum(1, keepdim=True)
