#pragma once

#include <cmath>
#include <vector>

#include "task.h"
#include "utils.h"

static __global__ void fill_uniform(float* out, size_t size, warpboard::Random random) {
    const size_t block = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    uint32_t bits[16];
    random.block(block, bits);
    for (size_t i = 0; i < 16; ++i) {
        if (16 * block + i < size) out[16 * block + i] = warpboard::Random::unit(bits[i]);
    }
}

static input_t generate_input(int kind, int size, int seed) {
    const size_t n = kind == 1 ? size : 1024;
    const std::vector<float> zeros(1 << 16, 0.0f);
    input_t data{kind, DeviceBuffer<float>(n), DeviceBuffer<float>(zeros.data(), zeros.size())};
    fill_uniform<<<static_cast<unsigned>(n / 16 / 256 + 1), 256>>>(data.data.data(), n, warpboard::Random(seed, 0));
    CUDA_CHECK(cudaGetLastError());
    return data;
}

// The sum of the values that were read must be about half their number, so skipping a part is detected.
static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    std::vector<float> parts(output.size());
    output.copy_to(parts.data());
    double sum = 0;
    for (const float part : parts) sum += part;
    const double want = 0.5 * data.data.size();
    if (!std::isfinite(sum) || (data.kind == 1 && !(std::abs(sum - want) <= 1e-2 * want))) {
        reporter.fail() << "the sum is " << sum << ", expected about " << want;
        return;
    }
    reporter.pass();
}
