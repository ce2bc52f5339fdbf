# want: {"compiled": true, "correctness": true}
# custom_kernel: torch
import torch
W = torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
class Model(torch.nn.Module):
    def forward(self, x):
        return x + x
