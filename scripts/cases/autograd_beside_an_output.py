# want: {"compiled": true, "correctness": true, "profiling_error": null}
# ref_kernel: torch
import torch


class Model(torch.nn.Module):
    def forward(self, x, out):
        return x**2, 2 * x


def get_inputs():
    return [torch.randn(1 << 20), torch.zeros(1 << 20)]
# custom_kernel: torch
import torch


class Model(torch.nn.Module):
    def forward(self, x, out):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            y = x * x
            out.copy_(y.detach())  # changes an input while autograd keeps another one
            y.sum().backward()
        return out, x.grad
