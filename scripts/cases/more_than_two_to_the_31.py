# body: {"num_trials": 3, "ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [2147487744], "dtype": "int8", "init": {"kind": "arange", "start": 0, "step": 0}}}]}}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.bitwise_not(x)
# custom_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x ^ -1
