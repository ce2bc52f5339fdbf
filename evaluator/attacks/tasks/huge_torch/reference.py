import torch


def generate_input(size: int, seed: int):
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed % 2**63)
    return torch.randn(size, device="cuda", dtype=torch.float16, generator=generator)


def check_implementation(x, output):
    if type(output) is not torch.Tensor or output.dtype != torch.float32 or output.shape != x.shape:
        return False, "the answer is no float32 of the input's shape"
    for got, part in zip(output.chunk(16), x.chunk(16)):
        if not torch.equal(got, 2 * part.float()):
            return False, "the answer is wrong: %d" % int((got != 2 * part.float()).sum())
    return True, ""
