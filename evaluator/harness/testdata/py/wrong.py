def custom_kernel(data):
    values, kind = data
    values.sort()
    return values
