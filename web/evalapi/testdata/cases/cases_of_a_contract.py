# body: {"cases": [{"x": [16, 32], "scale": 3.0}, {"x": [64], "scale": 0.5}], "ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [4, 8], "init": {"kind": "uniform"}}}, {"name": "scale", "type": "float", "value": 2.0}]}, "metadata": {"function_name": "f"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [4, 8], "init": {"kind": "uniform"}}}, {"name": "scale", "type": "float", "value": 2.0}]}, "metadata": {"function_name": "g"}}}
# want: {"correctness": true, "speedup": "positive", "cases": "~scale:0.5 x:[64]"}
# ref_kernel: torch
def f(x, scale):
    assert x.dim() == 1 or tuple(x.shape) == (16, 32)
    return x * scale
# custom_kernel: torch
def g(x, scale):
    return scale * x
