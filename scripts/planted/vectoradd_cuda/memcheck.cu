#include <utility>

#include "task.h"

__global__ void add(const float* a, const float* b, float* out, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    const float sum = i < size ? a[i] + b[i] : 0.0f;
    out[i] = sum;  // planted: also writes behind the end of out
}

output_t custom_kernel(input_t data) {
    const size_t size = data.out.size();
    add<<<static_cast<unsigned>((size + 255) / 256), 256>>>(data.a.data(), data.b.data(), data.out.data(), size);
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
