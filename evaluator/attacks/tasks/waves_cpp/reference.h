#pragma once

#include <cstdint>
#include <limits>
#include <random>

#include "task.h"
#include "utils.h"

static input_t generate_input(int size, int seed) {
    input_t data;
    std::mt19937 generator(static_cast<uint32_t>(seed));
    data.x.resize(size);
    data.out.assign(size, std::numeric_limits<float>::quiet_NaN());
    for (float& x : data.x) x = static_cast<float>(generator() >> 9) * 0x1p-23f;
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (output.size() != data.x.size()) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << data.x.size();
        return;
    }
    for (size_t i = 0; i < output.size(); ++i) {
        volatile float want = data.x[i];
        for (int round = 0; round < rounds; ++round) {
            volatile float rest = 1.0f - want;
            volatile float product = 3.9f * want;
            want = product * rest;
        }
        if (!(output[i] == want)) {  // in this form, NaN is wrong, too
            reporter.fail() << "element " << i << ": expected " << want << ", got " << output[i];
            return;
        }
    }
    reporter.pass();
}
