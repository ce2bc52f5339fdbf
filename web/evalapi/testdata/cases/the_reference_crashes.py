# want: {"correctness": false, "fault": "reference", "validation_error": "The reference's process was killed by SIGSEGV while validating."}
# ref_kernel: torch
import ctypes, torch
class Model(torch.nn.Module):
    def forward(self, x):
        ctypes.string_at(0)
def get_inputs():
    return [torch.randn(64, 64)]
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x
