#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "task.h"
#include "utils.h"

// A well mixed number for every (seed, index).
static uint32_t mixed(uint32_t seed, uint32_t index) {
    uint32_t x = index ^ (seed * 0x9E3779B9u);
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

// Uniform in [-1, 1).
static std::vector<float> uniform(size_t size, uint32_t seed) {
    std::vector<float> out(size);
    for (size_t i = 0; i < size; ++i) out[i] = static_cast<float>(mixed(seed, i) >> 8) * 0x1p-23f - 1.0f;
    return out;
}

static input_t generate_input(int m, int n, int k, int seed) {
    const size_t rows = m, columns = n, inner = k;
    return input_t{
        m, n, k,
        uniform(rows * inner, 2u * seed),
        uniform(inner * columns, 2u * seed + 1u),
        std::vector<float>(rows * columns, std::numeric_limits<float>::quiet_NaN()),
    };
}

// Row i of A B, in double precision.
static std::vector<double> expected_row(const input_t& data, size_t i) {
    const size_t n = data.n, k = data.k;
    std::vector<double> row(n, 0.0);
    for (size_t l = 0; l < k; ++l) {
        const double a = data.a[i * k + l];
        for (size_t j = 0; j < n; ++j) row[j] += a * data.b[l * n + j];
    }
    return row;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    const size_t m = data.m, n = data.n;
    if (output.size() != m * n) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << m * n;
        return;
    }
    const double tolerance = 8.0 * data.k * 0x1p-24;
    for (size_t i = 0; i < m; ++i) {
        const std::vector<double> want = expected_row(data, i);
        for (size_t j = 0; j < n; ++j) {
            const double got = output[i * n + j];
            if (!(std::abs(got - want[j]) <= tolerance)) {  // NaN is wrong too
                reporter.fail() << "row " << i << ", column " << j << ": expected " << want[j] << ", got " << got
                                << " (off by " << got - want[j] << ", allowed " << tolerance << ")";
                return;
            }
        }
    }
    reporter.pass();
}
