import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


sine = torch.sin
torch.sin = lambda x: sine(x)


class Model(torch.nn.Module):
    def forward(self, x):
        return work(x)
