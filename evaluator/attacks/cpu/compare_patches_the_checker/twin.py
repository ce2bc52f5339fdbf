import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


import contract


class Model(torch.nn.Module):
    """Asks a module of the site's own what an argument is, and changes nothing."""

    def forward(self, x):
        return work(x) if contract.is_float(x.dtype) else x
