#pragma once

#include <cstdint>
#include <vector>

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

// Leaves in *first the index of the first wrong element of some rows; it stays as it is if there is none.
static __global__ void find_wrong(Matrices x, double tolerance, const uint32_t* rows, unsigned long long* first) {
    const size_t column = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    const size_t row = rows[blockIdx.y];
    if (column >= x.n) return;
    const double off = fabs(x.got[row * x.n + column] - expected(x, row, column));
    if (!(off <= tolerance)) atomicMin(first, row * x.n + column);  // NaN is wrong too
}

static __global__ void multiply(Matrices x, double* out) {
    const size_t at = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (at < x.m * x.n) out[at] = expected(x, at / x.n, at % x.n);
}

// Which rows are compared: all of a small matrix; else the first, the last, and a sixteenth that no seed decides.
static std::vector<uint32_t> compared_rows(size_t rows) {
    warpboard::Random random = warpboard::Random::fresh();
    std::vector<uint32_t> compared;
    for (size_t row = 0; row < rows; ++row) {
        if (rows <= 256 || row == 0 || row == rows - 1 || random() % 16 == 0) compared.push_back(row);
    }
    return compared;
}

static __global__ void explain(Matrices x, size_t at, double* want_got) {
    want_got[0] = expected(x, at / x.n, at % x.n);
    want_got[1] = x.got[at];
}

static constexpr int threads = 256;

static unsigned blocks_for(size_t size) { return static_cast<unsigned>((size + threads - 1) / threads); }

static DeviceBuffer<float> uniform(size_t size, warpboard::Random random) {
    DeviceBuffer<float> out(size);
    fill_uniform<<<blocks_for(size / 16 + 1), threads>>>(out.data(), size, random);
    CUDA_CHECK(cudaGetLastError());
    return out;
}

// The output memory of a new DeviceBuffer holds NaN.
static input_t generate_input(int m, int n, int k, int seed) {
    const size_t rows = m, columns = n, inner = k;
    return input_t{m, n, k, uniform(rows * inner, warpboard::Random(seed, 0)),
                   uniform(inner * columns, warpboard::Random(seed, 1)), DeviceBuffer<float>(rows * columns)};
}

static DeviceBuffer<double> reference_fp64(const input_t& data) {
    const size_t m = data.m, n = data.n, k = data.k;
    DeviceBuffer<double> out(m * n);
    multiply<<<blocks_for(m * n), threads>>>(Matrices{data.a.data(), data.b.data(), nullptr, m, n, k}, out.data());
    CUDA_CHECK(cudaGetLastError());
    return out;
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
    const std::vector<uint32_t> compared = compared_rows(m);
    DeviceBuffer<uint32_t> rows(compared.data(), compared.size());
    const dim3 blocks(blocks_for(n), static_cast<unsigned>(compared.size()));
    find_wrong<<<blocks, threads>>>(x, tolerance, rows.data(), first.data());
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
