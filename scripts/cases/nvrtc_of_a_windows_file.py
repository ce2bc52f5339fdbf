# body: {"atol": 0.01, "rtol": 0.01, "ref_kernel": {"metadata": {"function_name": "run"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [1048576], "dtype": "float32", "init": {"kind": "randn", "seed": 3}}}, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1048576], "dtype": "float32"}}, {"name": "n", "type": "int", "value": 1048576}], "launch": {"grid": {"x": "cdiv(n, 256)"}, "block": {"x": 256}}}, "kernel_type": "cuda", "source_code": "\ufeff// gr\u00f6\u00dfe \u4f60\u597d \u2713\r\nextern \"C\" __global__ void k(const float* x, float* y, int n) {\r\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\r\n    if (i < n) y[i] = x[i] * 2;\r\n}\r\n"}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
def run(x):
    return x * 2
