import torch
from task import input_t, output_t
from utils import verbose_allclose

# On a machine without a GPU the ranks run on the CPU, so that the task can be tried there.
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def generate_input(rank: int, world_size: int, size: int, seed: int) -> input_t:
    """Is called once for each rank, with that rank's GPU as the current one."""
    generator = torch.Generator(device=DEVICE)
    generator.manual_seed((seed * world_size + rank) % 2**63)
    x = torch.randn(size, device=DEVICE, generator=generator)
    return x, torch.full_like(x, float("nan"))


def reference_fp64(inputs: list[input_t]) -> list[output_t]:
    """What each rank should answer."""
    total = sum(x.double().to(inputs[0][0].device) for x, _ in inputs)
    return [total.to(x.device) for x, _ in inputs]


def check_implementation(inputs: list[input_t], outputs: list[output_t]) -> tuple[bool, str]:
    """Gets the inputs and the answers of all ranks."""
    for rank, (got, want) in enumerate(zip(outputs, reference_fp64(inputs), strict=True)):
        wrong = verbose_allclose(got, want, rtol=1e-5, atol=1e-6)
        if wrong:
            return False, f"rank {rank}: {'; '.join(wrong[:2])}"
    return True, ""
