#pragma once

#include "task.h"
#include "utils.h"

static input_t generate_input(int size, int seed) { return {size, seed}; }

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (output == data.size + data.seed) {
        reporter.pass();
    } else {
        reporter.fail() << "expected " << data.size + data.seed << ", got " << output;
    }
}
