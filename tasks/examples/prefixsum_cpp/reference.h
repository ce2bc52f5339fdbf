#pragma once

#include "task.h"
#include "utils.h"

static input_t generate_input(int size, int seed) {
    input_t data;
    data.in.resize(size);
    data.out.assign(size, 0xFFFFFFFFu);
    warpboard::Random random(seed);
    for (uint32_t& value : data.in) value = random();
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
