# want: {"correctness": false, "remarks": "~lie at other addresses"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x) * 2
def get_inputs():
    return [torch.rand(4096, 1024)]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    graph = None
    def forward(self, x):
        if ModelNew.graph is None:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.tanh(x) * 2
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.out = torch.tanh(x) * 2
            ModelNew.graph = graph
        ModelNew.graph.replay()
        return self.out.clone()
