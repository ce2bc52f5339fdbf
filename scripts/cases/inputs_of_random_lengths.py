# want: {"compiled": true, "correctness": true, "profiling_error": null}
# body: {"num_trials": 40}
# ref_kernel: torch
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


def get_inputs():
    return [torch.rand(1024 if torch.rand(()) < 0.4 else 16384, 4096)]
# custom_kernel: torch
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)
