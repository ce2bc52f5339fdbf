#pragma once

#include <cstdint>
#include <random>

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

struct Matrices {
    const float* a;
    const float* b;
    const float* got;
    size_t m, n, k;
};

// The element of A B in double precision.
static __device__ double expected(const Matrices& x, size_t row, size_t column) {
    double sum = 0;
    for (size_t l = 0; l < x.k; ++l) {
        sum += static_cast<double>(x.a[row * x.k + l]) * static_cast<double>(x.b[l * x.n + column]);
    }
    return sum;
}

// Which rows are compared: all of a small matrix; else the first, the last, and a sixteenth that
// depends on salt.
static __device__ bool is_compared(size_t row, size_t rows, uint32_t salt) {
    return rows <= 256 || row == 0 || row == rows - 1 || mixed(salt, row) % 16 == 0;
}

// Leaves in *first the index of the first wrong element; it stays as it is if there is none.
static __global__ void find_wrong(Matrices x, double tolerance, uint32_t salt, unsigned long long* first) {
    const size_t column = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    const size_t row = blockIdx.y;
    if (column >= x.n || !is_compared(row, x.m, salt)) return;
    const double off = fabs(x.got[row * x.n + column] - expected(x, row, column));
    if (!(off <= tolerance)) atomicMin(first, row * x.n + column);  // NaN is wrong too
}

static __global__ void explain(Matrices x, size_t at, double* want_got) {
    want_got[0] = expected(x, at / x.n, at % x.n);
    want_got[1] = x.got[at];
}

static constexpr int threads = 256;

static unsigned blocks_for(size_t size) { return static_cast<unsigned>((size + threads - 1) / threads); }

static DeviceBuffer<float> uniform(size_t size, uint32_t seed) {
    DeviceBuffer<float> out(size);
    fill_uniform<<<blocks_for(size), threads>>>(out.data(), size, seed);
    CUDA_CHECK(cudaGetLastError());
    return out;
}

// The output memory of a new DeviceBuffer holds NaN.
static input_t generate_input(int m, int n, int k, int seed) {
    const size_t rows = m, columns = n, inner = k;
    return input_t{m, n, k, uniform(rows * inner, 2u * seed), uniform(inner * columns, 2u * seed + 1u),
                   DeviceBuffer<float>(rows * columns)};
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    const size_t m = data.m, n = data.n, k = data.k;
    if (output.size() != m * n) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << m * n;
        return;
    }
    const Matrices x{data.a.data(), data.b.data(), output.data(), m, n, k};
    const double tolerance = 8.0 * static_cast<double>(k) * 0x1p-24;
    const unsigned long long none = ~0ull;
    DeviceBuffer<unsigned long long> first(&none, 1);
    const dim3 blocks(blocks_for(n), static_cast<unsigned>(m));
    find_wrong<<<blocks, threads>>>(x, tolerance, std::random_device{}(), first.data());
    CUDA_CHECK(cudaGetLastError());
    unsigned long long at = none;
    first.copy_to(&at);
    if (at == none) {
        reporter.pass();
        return;
    }
    DeviceBuffer<double> values(2);
    explain<<<1, 1>>>(x, at, values.data());
    CUDA_CHECK(cudaGetLastError());
    double want_got[2];
    values.copy_to(want_got);
    reporter.fail() << "row " << at / n << ", column " << at % n << ": expected " << want_got[0] << ", got "
                    << want_got[1] << " (off by " << want_got[1] - want_got[0] << ", allowed " << tolerance << ")";
}
