"""The module core.challenge_base, which LeetGPU's challenges import: their base class, and descriptions of inputs."""

import torch


class ChallengeBase:
    def __init__(self, device="cuda"):
        self.device = device


class Described:
    """Base class of descriptions of tensors. The method make of a subclass creates the tensor on a device."""

    def __init__(self, shape, first=0.0, second=1.0, dtype="float32"):
        self.shape, self.first, self.second, self.dtype = tuple(shape), first, second, dtype


class RandTensor(Described):
    def __init__(self, shape, low=0.0, high=1.0, dtype="float32"):
        super().__init__(shape, low, high, dtype)

    def make(self, device):
        drawn = torch.rand(self.shape, device=device) * (self.second - self.first) + self.first
        return drawn.to(getattr(torch, self.dtype))


class RandnTensor(Described):
    def __init__(self, shape, mean=0.0, std=1.0, dtype="float32"):
        super().__init__(shape, mean, std, dtype)

    def make(self, device):
        return (torch.randn(self.shape, device=device) * self.second + self.first).to(getattr(torch, self.dtype))


class RandIntTensor(Described):
    def __init__(self, shape, low, high, dtype="int32"):
        super().__init__(shape, low, high, dtype)

    def make(self, device):
        return torch.randint(self.first, self.second, self.shape, dtype=getattr(torch, self.dtype), device=device)


class FullTensor(Described):
    def __init__(self, shape, value=0.0, dtype="float32"):
        super().__init__(shape, value, None, dtype)

    def make(self, device):
        return torch.full(self.shape, self.first, dtype=getattr(torch, self.dtype), device=device)


class OutTensor(Described):
    def __init__(self, shape, dtype="float32"):
        super().__init__(shape, None, None, dtype)

    def make(self, device):
        return torch.empty(self.shape, dtype=getattr(torch, self.dtype), device=device)
