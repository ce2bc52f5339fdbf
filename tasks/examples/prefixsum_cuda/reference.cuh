#pragma once

#include "task.h"
#include "utils.h"

// Fills with any values, 16 by each thread.
static __global__ void fill_random(uint32_t* out, size_t size, warpboard::Random random) {
    const size_t block = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    uint32_t bits[16];
    random.block(block, bits);
    for (size_t i = 0; i < 16; ++i) {
        if (16 * block + i < size) out[16 * block + i] = bits[i];
    }
}

// Leaves in *first the index of the first wrong element; it stays as it is if there is none. An
// output is right exactly when it starts with the first value and every step up is the next value.
static __global__ void find_wrong(const uint32_t* in, const uint32_t* got, size_t size, unsigned long long* first) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size && got[i] - (i > 0 ? got[i - 1] : 0u) != in[i]) atomicMin(first, i);
}

static constexpr int threads = 256;

static unsigned blocks_for(size_t size) { return static_cast<unsigned>((size + threads - 1) / threads); }

static uint32_t element(const DeviceBuffer<uint32_t>& buffer, size_t index) {
    uint32_t value = 0;
    CUDA_CHECK(cudaMemcpy(&value, buffer.data() + index, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static input_t generate_input(int size, int seed) {
    const size_t n = size;
    input_t data{DeviceBuffer<uint32_t>(n), DeviceBuffer<uint32_t>(n)};
    fill_random<<<blocks_for(n / 16 + 1), threads>>>(data.in.data(), n, warpboard::Random(seed));
    CUDA_CHECK(cudaGetLastError());
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    const size_t size = data.in.size();
    if (output.size() != size) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << size;
        return;
    }
    const unsigned long long none = ~0ull;
    DeviceBuffer<unsigned long long> first(&none, 1);
    find_wrong<<<blocks_for(size), threads>>>(data.in.data(), output.data(), size, first.data());
    CUDA_CHECK(cudaGetLastError());
    unsigned long long at = none;
    first.copy_to(&at);
    if (at == none) {
        reporter.pass();
        return;
    }
    const uint32_t before = at > 0 ? element(output, at - 1) : 0u;  // right, as at is the first wrong one
    reporter.fail() << "element " << at << ": expected " << before + element(data.in, at) << ", got "
                    << element(output, at);
}
