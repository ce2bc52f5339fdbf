#include <utility>

#include "task.h"

__global__ void add(const float* a, const float* b, const float* scratch, float* out, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i >= size) return;
    const float before = scratch[i];  // planted: reads memory that was never written
    out[i] = before == 1e30f ? before : a[i] + b[i];
}

output_t custom_kernel(input_t data) {
    const size_t size = data.out.size();
    DeviceBuffer<float> scratch(size);
    add<<<static_cast<unsigned>((size + 255) / 256), 256>>>(data.a.data(), data.b.data(), scratch.data(), data.out.data(), size);
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
