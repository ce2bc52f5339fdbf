#include <utility>

#include "task.h"

__global__ void add(const float* a, const float* b, float* out, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) out[i] = a[i] + b[i];
}

static unsigned blocks(size_t size) { return static_cast<unsigned>((size + 255) / 256); }

// Forks to a stream of its own and joins it.
output_t custom_kernel(input_t data) {
    static cudaStream_t side = [] {
        cudaStream_t stream;
        CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        return stream;
    }();
    static cudaEvent_t fork = [] {
        cudaEvent_t event;
        CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        return event;
    }();
    const size_t size = data.out.size();
    CUDA_CHECK(cudaEventRecord(fork, 0));
    CUDA_CHECK(cudaStreamWaitEvent(side, fork, 0));
    add<<<blocks(size), 256, 0, side>>>(data.a.data(), data.b.data(), data.out.data(), size);
    CUDA_CHECK(cudaEventRecord(fork, side));
    CUDA_CHECK(cudaStreamWaitEvent(0, fork, 0));
    return std::move(data.out);
}
