// A small known program: sums 1 … 2^20 on the GPU and prints the sum and how many GPUs it sees.
// Started after something failed on a unit, to tell whether the fault outlived the program.
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
