def custom_kernel(data):
    a, b, out = data
    out.copy_(a)
    out.neg_().neg_()
    return out.add_(b)
