// Sums 1 … 2^20 on the GPU, and prints the sum and the number of visible GPUs. The worker runs it after a failure on
// a slot: a wrong output means that the GPU is still broken.
#include <cstdio>

__global__ void sum(unsigned long long* total) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, static_cast<unsigned long long>(i + 1));
}

int main() {
    int count = 0;
    unsigned long long *total = nullptr, host = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && cudaMalloc(&total, sizeof *total) == cudaSuccess) {
        cudaMemset(total, 0, sizeof *total);
        sum<<<1 << 12, 1 << 8>>>(total);
        cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    }
    std::printf("%llu on %d: %s\n", host, count, cudaGetErrorString(cudaGetLastError()));
}
