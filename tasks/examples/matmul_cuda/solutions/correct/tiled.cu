#include <utility>

#include "task.h"

constexpr int tile = 64;   // rows and columns of C for a block
constexpr int depth = 16;  // columns of A and rows of B in shared memory at a time
constexpr int each = 4;    // rows and columns of C for a thread
constexpr int side = tile / each;

// A block of side × side threads computes a tile of C; a thread holds its elements, which lie side
// apart, in registers.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float left[tile][depth + 1];  // one more column: no two rows in the same bank
    __shared__ float right[depth][tile];
    const int row = blockIdx.y * tile, column = blockIdx.x * tile;
    const int thread = threadIdx.y * side + threadIdx.x;
    float sum[each][each] = {};
    for (int l = 0; l < k; l += depth) {
        for (int i = thread; i < tile * depth; i += side * side) {
            const int r = i / depth, d = i % depth;
            left[r][d] = row + r < m && l + d < k ? a[(row + r) * k + l + d] : 0.0f;
        }
        for (int i = thread; i < depth * tile; i += side * side) {
            const int d = i / tile, s = i % tile;
            right[d][s] = l + d < k && column + s < n ? b[(l + d) * n + column + s] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < depth; ++d) {
            for (int i = 0; i < each; ++i) {
                const float x = left[threadIdx.y + i * side][d];
                for (int j = 0; j < each; ++j) sum[i][j] += x * right[d][threadIdx.x + j * side];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < each; ++i) {
        for (int j = 0; j < each; ++j) {
            const int r = row + threadIdx.y + i * side, s = column + threadIdx.x + j * side;
            if (r < m && s < n) c[r * n + s] = sum[i][j];
        }
    }
}

output_t custom_kernel(input_t data) {
    const dim3 threads(side, side);
    const dim3 blocks((data.n + tile - 1) / tile, (data.m + tile - 1) / tile);
    multiply<<<blocks, threads>>>(data.a.data(), data.b.data(), data.out.data(), data.m, data.n, data.k);
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
