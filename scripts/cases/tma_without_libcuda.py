# want: {"compiled": false, "compilation_error": "~cuTensorMapEncodeTiled"}
# custom_kernel: torch_cuda
import torch, os
from torch.utils.cpp_extension import load_inline

cuda_source = r"""
#include <torch/extension.h>
#include <cuda.h>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
__global__ void k(const __grid_constant__ CUtensorMap in, float* y, int cols) {
    __shared__ alignas(128) float tile[32][64];
    __shared__ barrier bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); cde::fence_proxy_async_shared_cta(); }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &in, blockIdx.x * 64, blockIdx.y * 32, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
    } else token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 32 * 64; i += blockDim.x)
        y[(blockIdx.y * 32 + i / 64) * (long)cols + blockIdx.x * 64 + i % 64] = 2.f * tile[i / 64][i % 64];
}
torch::Tensor twice(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int rows = 4096, cols = x.numel() / rows;
    CUtensorMap map{};
    cuuint64_t dims[2] = {(cuuint64_t)cols, (cuuint64_t)rows}, strides[1] = {(cuuint64_t)cols * 4};
    cuuint32_t box[2] = {64, 32}, el[2] = {1, 1};
    CUresult r = cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, x.data_ptr<float>(), dims, strides, box, el,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    TORCH_CHECK(r == CUDA_SUCCESS, "encode failed");
    k<<<dim3(cols / 64, rows / 32), 128>>>(map, y.data_ptr<float>(), cols);
    return y;
}
"""
cpp_source = "torch::Tensor twice(torch::Tensor x);"
ext = load_inline(name="twice_tma2", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["twice"], extra_cuda_cflags=["-gencode=arch=compute_90a,code=sm_90a", "-std=c++17"])
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return ext.twice(x)
