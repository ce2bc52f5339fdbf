# body: {"ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [3, 4], "init": {"kind": "arange"}}}]}, "metadata": {"function_name": "f"}}, "custom_kernel": {"metadata": {"function_name": "f"}}}
# want: {"correctness": true, "vacuous": null, "fresh_inputs": false}
# ref_kernel: torch
def f(x): return x * x + 3
# custom_kernel: torch
def f(x): return x ** 2 + 3
