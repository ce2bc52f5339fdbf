#pragma once

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
static float uniform(uint32_t seed, uint32_t index) {
    return static_cast<float>(mixed(seed, index) >> 8) * 0x1p-23f - 1.0f;
}

static input_t generate_input(int size, int seed) {
    input_t data;
    data.a.resize(size);
    data.b.resize(size);
    data.out.assign(size, std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < size; ++i) {
        data.a[i] = uniform(2u * seed, i);
        data.b[i] = uniform(2u * seed + 1u, i);
    }
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (output.size() != data.a.size()) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << data.a.size();
        return;
    }
    for (size_t i = 0; i < output.size(); ++i) {
        const float want = data.a[i] + data.b[i];
        if (!(output[i] == want)) {  // NaN is wrong too
            reporter.fail() << "element " << i << ": expected " << want << ", got " << output[i];
            return;
        }
    }
    reporter.pass();
}
