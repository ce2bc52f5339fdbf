from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Knows nothing of the other ranks."""
    x, out = data
    return out.copy_(x)
