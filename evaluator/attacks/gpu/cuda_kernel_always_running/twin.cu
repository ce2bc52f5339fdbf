#include <utility>

#include "task.h"

// Adds again and again, in one kernel, as often as it is told to.
__global__ void add(const volatile float* a, const volatile float* b, volatile float* out, size_t size, int times) {
    const size_t first = blockIdx.x * size_t{blockDim.x} + threadIdx.x, step = gridDim.x * size_t{blockDim.x};
    for (int n = 0; n < times; ++n) {
        for (size_t i = first; i < size; i += step) out[i] = a[i] + b[i];
    }
}

output_t custom_kernel(input_t data) {
    add<<<264, 512>>>(data.a.data(), data.b.data(), data.out.data(), data.out.size(), 1);
    return std::move(data.out);
}
