import torch


class Model(torch.nn.Module):
    def forward(self, x):
        answer = torch.full_like(x, float("nan"))
        for _ in range(10):
            x = torch.sin(x) + 0.5 * x
        answer.copy_(x)
        return answer


def get_inputs():
    return [torch.randn(200_000)]
