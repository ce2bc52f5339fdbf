#pragma once

#include <cmath>
#include <cstdint>

#include "task.h"
#include "utils.h"

static input_t generate_input(int kind, int size, int seed) {
    uint32_t state = warpboard::Random(seed)();  // simple, because predicting these inputs is no advantage
    std::vector<float> data(kind == 1 ? size : 64);
    for (float& value : data) value = 0x1p-24f * static_cast<float>((state = state * 1664525u + 1013904223u) >> 8);
    return input_t{kind, std::move(data), std::vector<float>(64, 0.5f)};
}

// The sum of the values that were read must be about half their number, so skipping a part is detected.
static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    double sum = 0, want = 0;
    for (const float value : output) sum += value;
    if (data.kind == 1) {
        for (const float value : data.data) want += value;
        if (!(std::abs(sum - want) <= 1e-3 * want)) {
            reporter.fail() << "the sum is " << sum << ", expected " << want;
            return;
        }
    }
    if (!std::isfinite(sum)) {
        reporter.fail() << "the sum is " << sum;
        return;
    }
    reporter.pass();
}
