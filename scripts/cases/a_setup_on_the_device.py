# body: {"setup": true}
# want: {"correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.randn(1 << 22)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x, state):
        return torch.mul(x, 2, out=state)
def setup(meta):
    room = torch.empty(meta[0]["shape"], device="cuda")
    for _ in range(3):  # repeated launches, as an autotuner makes
        torch.mul(room, 2, out=room)
        torch.cuda.synchronize()
    return room
