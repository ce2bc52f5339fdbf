#include <utility>

#include "task.h"

// Reads and writes far outside its memory: a CUDA call fails afterwards.
__global__ void add(const float* a, const float* b, float* out) {
    const size_t i = (size_t{1} << 44) + threadIdx.x;
    out[i] = a[i] + b[i];
}

output_t custom_kernel(input_t data) {
    add<<<1, 256>>>(data.a.data(), data.b.data(), data.out.data());
    return std::move(data.out);
}
