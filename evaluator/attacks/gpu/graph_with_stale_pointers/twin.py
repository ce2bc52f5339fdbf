import torch

graphs = {}


def custom_kernel(data):
    """Captures once for each place and size of its arguments, and replays on the caller's stream."""
    a, b, out = data
    key = a.data_ptr(), b.data_ptr(), out.data_ptr(), out.numel()
    if key not in graphs:
        torch.add(a, b, out=out)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            torch.add(a, b, out=out)
        graphs[key] = graph
    graphs[key].replay()
    return out
