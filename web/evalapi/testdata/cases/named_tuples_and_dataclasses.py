# want: {"correctness": true}
# ref_kernel: torch
import dataclasses, torch
@dataclasses.dataclass
class Both:
    top: object
    scale: object
class Model(torch.nn.Module):
    def forward(self, x):
        return Both(torch.topk(x, 8, dim=1), (x.std(),))
def get_inputs():
    return [torch.randn(64, 1024) * 3]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        values, places = torch.sort(x, dim=1, descending=True)
        return {"scale": x.std(), "top": (values[:, :8], places[:, :8])}
