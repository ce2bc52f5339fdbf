// Takes the memory of inputs and answers of 300 calls from the judge's pool. Prints how often memory was allocated, and
// the most bytes that were allocated, as a multiple of the most in use. The arguments are the least and the largest
// size of an array.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "warpboard_judge_device.h"

static std::map<void*, size_t> allocated;
static size_t allocations, bytes_now, most_bytes;

static cudaError_t counted_malloc(void** memory, size_t bytes) {
    const cudaError_t error = cudaMalloc(memory, bytes);
    allocated[*memory] = bytes, ++allocations;
    most_bytes = std::max(most_bytes, bytes_now += bytes);
    return error;
}
static cudaError_t counted_free(void* memory) {
    bytes_now -= allocated[memory];
    return cudaFree(memory);
}
#define cudaMalloc(memory, bytes) counted_malloc(memory, bytes)
#define cudaFree(memory) counted_free(memory)
#include "warpboard_gpu_judge.h"

int main(int, char** arguments) {
    const size_t least = std::strtoull(arguments[1], nullptr, 10), most = std::strtoull(arguments[2], nullptr, 10);
    warpboard::DevicePool pool;
    warpboard::Random random{1};
    const size_t shared = 4 * most;  // the regions of inputs and answers, which the runner has, too
    pool.count(shared);
    bytes_now = shared;
    size_t most_used = 0;
    for (int call = 0; call < 300; ++call) {
        const size_t bytes = least + random() % (most - least + 1), answer = bytes / 3;
        void *input = pool.take(bytes), *output = pool.take(bytes), *copy = pool.take(answer);
        most_used = std::max(most_used, shared + 2 * bytes + answer);
        pool.give(input), pool.give(output), pool.give(copy);
    }
    cudaDeviceSynchronize();
    std::printf("%zu %.1f\n", allocations, static_cast<double>(most_bytes) / static_cast<double>(most_used));
}
