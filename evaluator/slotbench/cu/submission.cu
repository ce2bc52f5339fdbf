#include <utility>

#include "task.h"

constexpr unsigned threads = 256, blocks = 256;  // one sum per element of out
constexpr int lanes = 16, rounds = 1 << 12;       // sums and rounds of each thread in multiply_and_add

__global__ void nothing() {}

__global__ void read(const float4* data, size_t size, float* out) {
    float sum = 0;
    for (size_t i = blockIdx.x * size_t{threads} + threadIdx.x; i < size; i += size_t{blocks} * 8 * threads) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const size_t at = i + k * size_t{blocks} * threads;
            if (at < size) {
                const float4 v = data[at];
                sum += v.x + v.y + v.z + v.w;
            }
        }
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

__global__ void multiply_and_add(const float* data, float* out) {
    float sum[lanes], factor = 0.5f + 1e-3f * data[0];
    for (int k = 0; k < lanes; ++k) sum[k] = data[(threadIdx.x + k) % 64];
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int k = 0; k < lanes; ++k) sum[k] = fmaf(sum[k], factor, 0.25f);
    }
    float total = 0;
    for (int k = 0; k < lanes; ++k) total += sum[k];
    const unsigned at = blockIdx.x * threads + threadIdx.x;
    if (at < 1 << 16) out[at] = total;  // the other blocks compute, too, but store no result
    if (total == 12345.678f) out[0] = total;
}

output_t custom_kernel(input_t data) {
    if (data.kind == 0) nothing<<<1, 1>>>();
    if (data.kind == 1) {
        read<<<blocks, threads>>>(reinterpret_cast<const float4*>(data.data.data()), data.data.size() / 4, data.out.data());
    }
    if (data.kind == 2) multiply_and_add<<<16 * blocks, threads>>>(data.data.data(), data.out.data());
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
