def custom_kernel(data):
    values, kind = data
  return values
