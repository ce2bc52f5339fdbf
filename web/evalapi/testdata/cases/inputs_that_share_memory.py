# want: {"correctness": true, "fresh_inputs": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x, same, later, other):
        x.view(-1)[4] = 7
        return x.sum() + same.sum() * 2 + later.sum() * 3 + other.sum(), torch.tensor([float(x is same), float(later[0]), float(other.view(-1)[4] == 7)])
def get_inputs():
    x = torch.randn(64, 64)
    return [x, x, x.view(-1)[4:], torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x, same, later, other):
        assert later.data_ptr() == x.data_ptr() + 16
        later[0] = 7
        return x.sum() * 3 + later.sum() * 3 + other.sum(), torch.tensor([0.0, 7.0, 0.0])
