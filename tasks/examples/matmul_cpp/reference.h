#pragma once

#include <cmath>
#include <limits>

#include "task.h"
#include "utils.h"

// Uniform in [-1, 1).
static std::vector<float> uniform(size_t size, warpboard::Random random) {
    std::vector<float> out(size);
    for (float& value : out) value = 2.0f * random.uniform() - 1.0f;
    return out;
}

static input_t generate_input(int m, int n, int k, int seed) {
    const size_t rows = m, columns = n, inner = k;
    return input_t{
        m, n, k,
        uniform(rows * inner, warpboard::Random(seed, 0)),
        uniform(inner * columns, warpboard::Random(seed, 1)),
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
