# want: {"compiled": true, "correctness": true}
# custom_kernel: torch_cuda
import torch, os
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* y, float* part, long n) {
    cg::grid_group grid = cg::this_grid();
    long i0 = grid.thread_rank(), step = grid.size();
    for (long i = i0; i < n; i += step) y[i] = x[i];
    if (i0 == 0) part[0] = 2.f;
    grid.sync();
    float f = part[0];
    for (long i = i0; i < n; i += step) y[i] *= f;
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x); auto part = torch::empty({1}, x.options());
    const float* xp = x.data_ptr<float>(); float *yp = y.data_ptr<float>(), *pp = part.data_ptr<float>(); long n = x.numel();
    int sms, per; cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, k, 256, 0);
    void* args[] = {&xp, &yp, &pp, &n};
    auto e = cudaLaunchCooperativeKernel((void*)k, dim3(sms * per), dim3(256), args, 0, 0);
    TORCH_CHECK(e == cudaSuccess, cudaGetErrorString(e));
    return y;
}
"""
cpp_source = "torch::Tensor twice(torch::Tensor x);"
ext = load_inline(name="twice_coop", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["twice"], )
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
