# want: {"compiled": true, "correctness": true}
# custom_kernel: torch_cuda
import torch, os
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* y, long n) {
    extern __shared__ float s[];
    cg::cluster_group c = cg::this_cluster();
    long base = blockIdx.x * 1024L;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) if (base + i < n) s[i] = x[base + i];
    c.sync();
    float* other = c.map_shared_rank(s, c.block_rank() ^ 1);
    long obase = (blockIdx.x ^ 1) * 1024L;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) if (obase + i < n) y[obase + i] = 2.f * other[i];
    c.sync();
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x); long n = x.numel();
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
    cudaLaunchConfig_t cfg{}; cfg.gridDim = dim3((n + 1023) / 1024 / 2 * 2); cfg.blockDim = dim3(256); cfg.dynamicSmemBytes = 200 * 1024;
    cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeClusterDimension; a[0].val.clusterDim.x = 2; a[0].val.clusterDim.y = 1; a[0].val.clusterDim.z = 1;
    cfg.attrs = a; cfg.numAttrs = 1;
    auto e = cudaLaunchKernelEx(&cfg, k, (const float*)x.data_ptr<float>(), y.data_ptr<float>(), n);
    TORCH_CHECK(e == cudaSuccess, cudaGetErrorString(e));
    return y;
}
"""
cpp_source = "torch::Tensor twice(torch::Tensor x);"
ext = load_inline(name="twice_cluster", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["twice"], )
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
