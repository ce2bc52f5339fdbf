# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, x.shape[0], float(x.sum()), "sum", x.numpy().std(0)
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x + x, 64, x.sum().item(), "sum", torch.from_numpy(x.numpy().std(0))
