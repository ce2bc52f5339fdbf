# body: {"atol": 0.01, "rtol": 0.01, "ref_kernel": {"metadata": {"function_name": "run"}}, "custom_kernel": {"io": {"args": [{"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": [1048576], "dtype": "float32", "init": {"kind": "randn", "seed": 3}}}, {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [1048576], "dtype": "float32"}}, {"name": "n", "type": "int", "value": 1048576}], "launch": {"grid": {"x": "cdiv(n, 256)"}, "block": {"x": 256}}}}}
# want: {"compiled": true, "correctness": true}
# ref_kernel: torch
import torch
def run(x):
    return x * 2
# custom_kernel: cuda
#include <cub/block/block_reduce.cuh>
#include <cooperative_groups.h>
#include <cuda_fp8.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <cuda/std/type_traits>
extern "C" __global__ void k(const float* x, float* y, int n) {
    namespace cg = cooperative_groups;
    int i = cg::this_grid().thread_rank();
    static_assert(cuda::std::is_same_v<float, decltype(x[0] * 1.f)>);
    if (i < n) y[i] = x[i] + x[i];
}
