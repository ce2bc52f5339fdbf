def custom_kernel(data):
    raise ValueError("no idea how to sort")
