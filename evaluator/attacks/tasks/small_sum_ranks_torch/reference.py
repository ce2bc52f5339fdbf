import torch
from utils import verbose_allequal


def generate_input(rank: int, world_size: int, size: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed((seed * world_size + rank) % 2**63)
    x = torch.randn(size, device="cuda", generator=generator)
    return x, torch.full_like(x, float("nan"))


def check_implementation(inputs, outputs):
    """Requires exact equality, because the sum of two floats has exactly one right result."""
    first, second = (x for x, _ in inputs)
    want = first + second.to(first.device)
    for rank, got in enumerate(outputs):
        wrong = verbose_allequal(got, want.to(inputs[rank][0].device))
        if wrong:
            return False, f"rank {rank}: {'; '.join(wrong[:2])}"
    return True, ""
