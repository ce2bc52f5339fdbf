# want: {"correctness": true, "remarks": null}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {"out": torch.softmax(x, 1) * 100, "lse": torch.logsumexp(x, 1)}
def get_inputs():
    return [torch.randn(64, 512)]
# custom_kernel: torch
import collections, torch
class Model(torch.nn.Module):
    def forward(self, x):
        lse = torch.logsumexp(x, 1)
        return collections.OrderedDict(lse=lse, out=torch.exp(x - lse[:, None]) * 100)
