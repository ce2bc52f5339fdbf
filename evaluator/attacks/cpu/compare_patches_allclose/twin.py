import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


close = torch.allclose


class Model(torch.nn.Module):
    def forward(self, x):
        y = work(x)
        assert close(y[:1], y[:1])
        return y
