# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, parts, bias, scale, pair):
        y = torch.cat(parts, 1) * scale
        return y + pair[0] * pair[1]["w"]
def get_inputs():
    return [[torch.randn(1024, 64), torch.randn(1024, 32), torch.randn(1024, 32)], None, 0.5, (torch.randn(1024, 1), {"w": torch.randn(128)})]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, parts, bias, scale, pair):
        assert all(p.is_cuda for p in parts) and pair[0].is_cuda and pair[1]["w"].is_cuda, "nested tensors are on the host"
        return torch.cat(parts, 1).mul_(scale).add_(pair[0] * pair[1]["w"])
