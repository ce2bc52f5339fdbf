#pragma once

#include <limits>

#include "task.h"
#include "utils.h"

// Uniform in [-1, 1).
static std::vector<float> uniform(size_t size, warpboard::Random random) {
    std::vector<float> out(size);
    for (float& value : out) value = 2.0f * random.uniform() - 1.0f;
    return out;
}

static input_t generate_input(int size, int seed) {
    const size_t n = size;
    return input_t{uniform(n, warpboard::Random(seed, 0)), uniform(n, warpboard::Random(seed, 1)),
                   std::vector<float>(n, std::numeric_limits<float>::quiet_NaN())};
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
