# want: {"correctness": true, "vacuous": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def __init__(self, width, dtype, more):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width, width, dtype=dtype) * more["scale"])
    def forward(self, x):
        return x @ self.weight
def get_inputs():
    return [torch.randn(64, 32, dtype=torch.float64)]
def get_init_inputs():
    return {"width": 32, "dtype": torch.float64, "more": {"scale": 2.5, "names": ["a", None]}}
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def __init__(self, width, dtype, more):
        super().__init__()
        assert dtype is torch.float64 and more["names"] == ["a", None]
        self.weight = torch.nn.Parameter(torch.randn(width, width, dtype=dtype) * more["scale"])
    def forward(self, x):
        return torch.mm(x, self.weight)
