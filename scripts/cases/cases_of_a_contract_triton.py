# body: {"cases": [{"x": [65536], "out": [65536], "n": 65536}, {"x": [16777216], "out": [16777216], "n": 16777216}], "ref_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [1024], "init": {"kind": "randn"}}}]}, "metadata": {"function_name": "f"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "tensor_spec": {"shape": [1024], "init": {"kind": "randn"}}}, {"name": "out", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1024]}}, {"name": "n", "type": "int", "value": 1024}], "launch": {"grid": {"x": "cdiv(n, 1024)"}}}}}
# want: {"correctness": true, "cases": "~16777216"}
# ref_kernel: torch
def f(x):
    return x * 2
# custom_kernel: triton
import triton
import triton.language as tl
@triton.jit
def twice(x, out, n):
    i = tl.program_id(0) * 1024 + tl.arange(0, 1024)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
