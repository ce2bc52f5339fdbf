import torch


def work(x):
    for _ in range(10):
        x = torch.sin(x) + 0.5 * x
    return x


import time


class Model(torch.nn.Module):
    def forward(self, x):
        begin = time.perf_counter_ns()
        y = work(x)
        self.took = time.perf_counter_ns() - begin
        return y
