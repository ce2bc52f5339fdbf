#include <utility>

#include "task.h"

constexpr int threads = 1024;

// One block walks the whole vector, 1024 elements at a time, and carries the sum on. It is right, and
// it leaves all but one of the GPU's processors idle.
__global__ void scan(const uint32_t* in, uint32_t* out, size_t size) {
    __shared__ uint32_t sums[threads];
    uint32_t carry = 0;
    for (size_t begin = 0; begin < size; begin += threads) {
        const size_t i = begin + threadIdx.x;
        sums[threadIdx.x] = i < size ? in[i] : 0u;
        __syncthreads();
        for (unsigned step = 1; step < threads; step *= 2) {
            const uint32_t left = threadIdx.x >= step ? sums[threadIdx.x - step] : 0u;
            __syncthreads();
            sums[threadIdx.x] += left;
            __syncthreads();
        }
        if (i < size) out[i] = carry + sums[threadIdx.x];
        carry += sums[threads - 1];
        __syncthreads();
    }
}

output_t custom_kernel(input_t data) {
    scan<<<1, threads>>>(data.in.data(), data.out.data(), data.in.size());
    CUDA_CHECK(cudaGetLastError());
    return std::move(data.out);
}
