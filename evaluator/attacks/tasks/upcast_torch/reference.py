import random

import torch
from utils import make_match_reference


def generate_input(size: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed % 2**63)
    return torch.randn(size, device="cuda", dtype=torch.float16, generator=generator), random.Random(seed).random()


def reference(data):
    x, s = data
    return torch.mul(x, s, out=torch.empty(x.shape, device="cuda"))


check_implementation = make_match_reference(reference, rtol=0, atol=0)
