# body: {"atol": 0.01, "rtol": 0.01, "ref_kernel": {"metadata": {"function_name": "run"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [1048576], "dtype": "float16", "init": {"kind": "randn", "seed": 3}}}, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1048576], "dtype": "float16"}}, {"name": "n", "type": "int", "value": 1048576}, {"name": "B", "type": "int", "value": 1024, "is_meta": true}], "launch": {"grid": {"x": "cdiv(n, B)"}, "num_warps": 4, "num_stages": 2}}, "metadata": {"kernel_name": "k"}}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
def run(x):
    return x * 2
# custom_kernel: triton
import triton, triton.language as tl
from triton.language.extra import libdevice
@triton.jit
def twice(v):
    return v + libdevice.rint(v * 0) + v
@triton.jit
def other(x):
    tl.store(x, 1.0)
@triton.jit
def k(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(y + i, twice(v).to(tl.float16), mask=i < n)
