# want: {"correctness": true, "fresh_inputs": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, parts, bias, scale, flag, names, pair, dtype):
        y = torch.cat(parts, 1) * scale
        return (y + pair[0] * pair[1]["w"] if flag else y).to(dtype)
def get_inputs():
    return [[torch.randn(128, 64), torch.randn(64, 128).t()[:, :32]], None, 0.5, True, ["a", "b"], (torch.randn(128, 1), {"w": torch.randn(96)}), torch.float64]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, parts, bias, scale, flag, names, pair, dtype):
        assert type(parts) is list and bias is None and flag is True and names == ["a", "b"] and type(pair) is tuple and parts[1].stride() == (1, 128)
        return (torch.cat(parts, 1).mul(scale) + pair[0] * pair[1]["w"]).to(dtype)
