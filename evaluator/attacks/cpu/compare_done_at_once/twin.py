import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


class Model(torch.nn.Module):
    """Its answer lies where the input was, too."""

    def forward(self, x):
        return x.copy_(work(x))
