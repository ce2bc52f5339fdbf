# body: {}
# want: {"correctness": false, "validation_error": "~missing 1 required positional argument: 'state'"}
# ref_kernel: torch
import torch
class Model(torch.nn.Module):
    def forward(self, x, n):
        return x * n
def get_inputs():
    return [torch.randn(64, 32), 3]
# custom_kernel: torch
import torch
class ModelNew(torch.nn.Module):
    def forward(self, x, n, state):
        assert x.shape[0] == state["rows"] and n == state["n"]
        return torch.mul(x, n, out=state["room"])
def setup(meta):
    assert meta == [{"shape": [64, 32], "dtype": "float32"}, {"value": 3}], meta
    return {"rows": meta[0]["shape"][0], "n": meta[1]["value"], "room": torch.empty(64, 32)}
