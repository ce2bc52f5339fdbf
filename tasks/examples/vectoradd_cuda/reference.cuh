#pragma once

#include <cstdint>

#include "task.h"
#include "utils.h"

// A well mixed number for every (seed, index).
static __device__ uint32_t mixed(uint32_t seed, uint32_t index) {
    uint32_t x = index ^ (seed * 0x9E3779B9u);
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

// Fills with values uniform in [-1, 1).
static __global__ void fill_uniform(float* out, size_t size, uint32_t seed) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) out[i] = static_cast<float>(mixed(seed, i) >> 8) * 0x1p-23f - 1.0f;
}

// Leaves in *first the index of the first wrong element; it stays as it is if there is none.
static __global__ void find_wrong(const float* a, const float* b, const float* got, size_t size,
                                  unsigned long long* first) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size && !(got[i] == a[i] + b[i])) atomicMin(first, i);  // NaN is wrong too
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
    fill_uniform<<<blocks_for(n), threads>>>(data.a.data(), n, 2u * seed);
    fill_uniform<<<blocks_for(n), threads>>>(data.b.data(), n, 2u * seed + 1u);
    CUDA_CHECK(cudaGetLastError());
    return data;
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
