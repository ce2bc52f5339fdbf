#include <utility>

#include "task.h"

__global__ void add(const float* a, const float* b, float* out, size_t size) {
    __shared__ float sums[256];
    const size_t first = blockIdx.x * size_t{256}, i = first + threadIdx.x, other = first + 255 - threadIdx.x;
    sums[threadIdx.x] = i < size ? a[i] + b[i] : 0.0f;  // planted: no barrier before other warps read this
    if (other < size) out[other] = sums[255 - threadIdx.x];  // planted: reads the sum of another warp
}

output_t custom_kernel(input_t data) {
    const size_t size = data.out.size();
    add<<<static_cast<unsigned>((size + 255) / 256), 256>>>(data.a.data(), data.b.data(), data.out.data(), size);
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
