# body: {"atol": 0.01, "rtol": 0.01, "ref_kernel": {"metadata": {"function_name": "run"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [1048576], "dtype": "bfloat16", "init": {"kind": "randn", "seed": 3}}}, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1048576], "dtype": "bfloat16"}}, {"name": "n", "type": "int", "value": 1048576}], "launch": {"grid": {"x": "cdiv(n, 256)"}, "block": {"x": 256}}}, "metadata": {"kernel_name": "k"}}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
def run(x):
    return x * 2
# custom_kernel: cuda
#include <cuda_bf16.h>
#define TWO 2.0f
__device__ __forceinline__ float up(__nv_bfloat16 v) { return __bfloat162float(v); }
extern "C" __global__ void other(float* a) { a[0] = 1; }
extern "C" __global__ void k(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2bfloat16(up(x[i]) * TWO);
}
