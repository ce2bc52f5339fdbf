# body: {"cases": [{"y": [16, 32]}], "ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [4, 8], "init": {"kind": "uniform"}}}, {"name": "scale", "type": "float", "value": 2.0}]}, "metadata": {"function_name": "f"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [4, 8], "init": {"kind": "uniform"}}}, {"name": "scale", "type": "float", "value": 2.0}]}, "metadata": {"function_name": "g"}}}
# want: {"correctness": false, "validation_error": "~Case 1: The case has y, and no contract has an argument of that name"}
# ref_kernel: torch
def f(x, scale):
    return x * scale
# custom_kernel: torch
def g(x, scale):
    return scale * x
