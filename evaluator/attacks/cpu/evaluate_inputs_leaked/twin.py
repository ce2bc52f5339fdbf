import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


def get_inputs():
    x = torch.randn(200_000)
    torch.save(x, "/tmp/left")  # what it leaves is its own
    return [torch.load("/tmp/left")]


class Model(torch.nn.Module):
    def forward(self, x):
        return work(x)
