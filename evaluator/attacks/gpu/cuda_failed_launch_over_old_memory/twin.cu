#include "task.h"

__global__ void add(const float* a, const float* b, float* out, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) out[i] = a[i] + b[i];
}

static unsigned blocks(size_t size) { return static_cast<unsigned>((size + 255) / 256); }

// Tries more threads than a device takes, and then fewer.
output_t custom_kernel(input_t data) {
    const size_t size = data.a.size();
    output_t out(size);
    for (unsigned threads : {2048u, 256u}) {
        add<<<blocks(size), threads>>>(data.a.data(), data.b.data(), out.data(), size);
        if (cudaGetLastError() == cudaSuccess) break;
    }
    return out;
}
