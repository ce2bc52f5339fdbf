import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.full_like(x, float("nan"))


def get_inputs():
    return [torch.randn(200_000)]
