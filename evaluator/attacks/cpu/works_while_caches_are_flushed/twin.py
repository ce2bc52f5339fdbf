def custom_kernel(data):
    size, x = data
    for _ in range(size):
        x = (x * x + 12345) % (2**61 - 1)
    return x
