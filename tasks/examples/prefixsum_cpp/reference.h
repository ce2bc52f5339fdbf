#pragma once

#include "task.h"
#include "utils.h"

// A well mixed number for every (seed, index).
static uint32_t mixed(uint32_t seed, uint32_t index) {
    uint32_t x = index ^ (seed * 0x9E3779B9u);
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

static input_t generate_input(int size, int seed) {
    input_t data;
    data.in.resize(size);
    data.out.assign(size, 0xFFFFFFFFu);
    for (int i = 0; i < size; ++i) data.in[i] = mixed(seed, i);
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (output.size() != data.in.size()) {
        reporter.fail() << "the output has " << output.size() << " elements, expected " << data.in.size();
        return;
    }
    uint32_t want = 0;
    for (size_t i = 0; i < output.size(); ++i) {
        want += data.in[i];
        if (output[i] != want) {
            reporter.fail() << "element " << i << ": expected " << want << ", got " << output[i];
            return;
        }
    }
    reporter.pass();
}
