#pragma once

#include <cstdint>
#include <random>

#include "task.h"
#include "utils.h"

static input_t generate_input(int size, int seed) {
    input_t data;
    std::mt19937 generator(static_cast<uint32_t>(seed));
    data.x.resize(size * piece);
    for (float& x : data.x) x = static_cast<float>(generator() >> 9) * 0x1p-23f;
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (output.size() * piece != data.x.size()) {
        reporter.fail() << output.size() << " pieces";
        return;
    }
    for (std::size_t i = 0; i < data.x.size(); ++i) {
        const std::vector<float>& values = output[i / piece];
        if (values.size() == piece && values[i % piece] == 2 * data.x[i]) continue;
        reporter.fail() << "element " << i;
        return;
    }
    reporter.pass();
}
