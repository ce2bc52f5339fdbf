#pragma once

#include <cstdint>

#include "task.h"
#include "utils.h"

// Fills with values uniform in [-1, 1), 16 by each thread.
static __global__ void fill_uniform(float* out, size_t size, warpboard::Random random) {
    const size_t block = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    uint32_t bits[16];
    random.block(block, bits);
    for (size_t i = 0; i < 16; ++i) {
        if (16 * block + i < size) out[16 * block + i] = 2.0f * warpboard::Random::unit(bits[i]) - 1.0f;
    }
}

// Leaves in *first the index of the first wrong element; it stays as it is if there is none.
static __global__ void find_wrong(const float* a, const float* b, const float* got, size_t size,
                                  unsigned long long* first) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size && !(got[i] == a[i] + b[i])) atomicMin(first, i);  // NaN is wrong too
}

static __global__ void add_exactly(const float* a, const float* b, size_t size, double* out) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) out[i] = static_cast<double>(a[i]) + b[i];
}

static constexpr int threads = 256;

static unsigned blocks_for(size_t size) { return static_cast<unsigned>((size + threads - 1) / threads); }

static float element(const DeviceBuffer<float>& buffer, size_t index) {
    float value = 0;
    CUDA_CHECK(cudaMemcpy(&value, buffer.data() + index, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// The output memory of a new DeviceBuffer holds NaN.
static input_t generate_input(int size, int seed) {
    const size_t n = size;
    input_t data{DeviceBuffer<float>(n), DeviceBuffer<float>(n), DeviceBuffer<float>(n)};
    fill_uniform<<<blocks_for(n / 16 + 1), threads>>>(data.a.data(), n, warpboard::Random(seed, 0));
    fill_uniform<<<blocks_for(n / 16 + 1), threads>>>(data.b.data(), n, warpboard::Random(seed, 1));
    CUDA_CHECK(cudaGetLastError());
    return data;
}

static DeviceBuffer<double> reference_fp64(const input_t& data) {
    const size_t size = data.a.size();
    DeviceBuffer<double> sums(size);
    add_exactly<<<blocks_for(size), threads>>>(data.a.data(), data.b.data(), size, sums.data());
    CUDA_CHECK(cudaGetLastError());
    return sums;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    const size_t size = data.a.size();
    if (output.size() != size) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << size;
        return;
    }
    const unsigned long long none = ~0ull;
    DeviceBuffer<unsigned long long> first(&none, 1);
    find_wrong<<<blocks_for(size), threads>>>(data.a.data(), data.b.data(), output.data(), size, first.data());
    CUDA_CHECK(cudaGetLastError());
    unsigned long long at = none;
    first.copy_to(&at);
    if (at == none) {
        reporter.pass();
        return;
    }
    reporter.fail() << "element " << at << ": expected " << element(data.a, at) + element(data.b, at) << ", got "
                    << element(output, at);
}
