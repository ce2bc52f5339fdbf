from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    """Returns the product with its rows in reverse order."""
    a, b, _ = data
    return (a @ b).flip(0)
