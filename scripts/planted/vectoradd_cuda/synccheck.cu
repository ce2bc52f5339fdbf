#include <utility>

#include "task.h"

__global__ void add(const float* a, const float* b, float* out, size_t size) {
    if (threadIdx.x < 17) __syncthreads();  // planted: only a part of the warp reaches the barrier
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) out[i] = a[i] + b[i];
}

output_t custom_kernel(input_t data) {
    const size_t size = data.out.size();
    add<<<static_cast<unsigned>((size + 255) / 256), 256>>>(data.a.data(), data.b.data(), data.out.data(), size);
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
