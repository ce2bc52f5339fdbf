#include <utility>

#include "task.h"

// Four elements a thread: one 16-byte load from each input. What is left over goes one by one.
__global__ void add(const float* a, const float* b, float* out, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size / 4) {
        const float4 x = reinterpret_cast<const float4*>(a)[i];
        const float4 y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(out)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (const size_t rest = size / 4 * 4 + (i - size / 4); rest < size) {
        out[rest] = a[rest] + b[rest];
    }
}

output_t custom_kernel(input_t data) {
    const size_t size = data.out.size();
    const unsigned threads = 256;
    const unsigned blocks = static_cast<unsigned>((size / 4 + size % 4 + threads - 1) / threads);
    add<<<blocks, threads>>>(data.a.data(), data.b.data(), data.out.data(), size);
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
