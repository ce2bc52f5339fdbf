# body: {"setup": true, "ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [64], "init": {"kind": "randn"}}}, {"name": "n", "type": "int", "value": 3}]}, "metadata": {"function_name": "f"}}, "custom_kernel": {"metadata": {"function_name": "f"}}}
# want: {"correctness": true, "setup_ns": "positive"}
# ref_kernel: torch
def f(x, n):
    return x * n
# custom_kernel: torch
def f(x, n, state):
    return x * state
def setup(meta):
    assert meta == [{'name': 'x', 'shape': [64], 'dtype': 'float32', 'role': 'input'}, {'name': 'n', 'value': 3}], meta
    return meta[1]['value']
