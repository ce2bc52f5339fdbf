import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


import sys

name = sys._getframe().f_code.co_name  # it may look at its own frames


class Model(torch.nn.Module):
    def forward(self, x):
        return work(x)
