# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, *inputs):
        return torch.tensor([float(stride) for x in inputs for stride in x.stride()]), sum(x.sum() for x in inputs)
def get_inputs():
    wide = torch.randn(16, 3, 8, 8)
    return [torch.randn(32, 64).t(), torch.randn(8, 1).expand(8, 500), wide.to(memory_format=torch.channels_last), torch.randn(10, 10)[:, ::3]]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, *inputs):
        return torch.tensor([1.0, 64, 1, 0, 192, 1, 24, 3, 10, 3]), sum(x.sum() for x in inputs)
