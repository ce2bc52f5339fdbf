# body: {"atol": 0.01, "rtol": 0.01, "ref_kernel": {"metadata": {"function_name": "run"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [1048576], "dtype": "float32", "init": {"kind": "randn", "seed": 3}}}, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1048576], "dtype": "float32"}}, {"name": "n", "type": "int", "value": 1048576}], "launch": {"grid": {"x": "cdiv(n, 256)"}, "block": {"x": 256}, "shared_mem": 163840}}}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
def run(x):
    return x * 2
# custom_kernel: cuda
extern "C" __global__ void k(const float* x, float* y, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x + 30000] = i < n ? x[i] : 0.f;
    __syncthreads();
    if (i < n) y[i] = 2.f * s[threadIdx.x + 30000];
}
