#include <utility>

#include "task.h"

// Computes the rows that it is called for: one in 64, or all others.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k, int apart, bool rest) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n || (row % 64 == apart) == rest) return;
    float sum = 0;
    for (int l = 0; l < k; ++l) sum += a[row * k + l] * b[l * n + column];
    c[row * n + column] = sum;
}

output_t custom_kernel(input_t data) {
    static int calls = 0;
    const int apart = 1 + calls++ % 62;
    const dim3 threads(32, 8);
    const dim3 blocks((data.n + threads.x - 1) / threads.x, (data.m + threads.y - 1) / threads.y);
    for (bool rest : {true, false}) {
        multiply<<<blocks, threads>>>(data.a.data(), data.b.data(), data.out.data(), data.m, data.n, data.k, apart, rest);
        CUDA_CHECK(cudaGetLastError());
    }
    return std::move(data.out);
}
