#pragma once

#include <cstdint>
#include <random>

#include "task.h"
#include "utils.h"

static input_t generate_input(int size, int ns, int seed) {
    std::mt19937 generator(static_cast<uint32_t>(seed));
    input_t data{std::vector<float>(size, 1.0f), ns};
    data.x.front() = static_cast<float>(generator() >> 9);
    data.x.back() = static_cast<float>(generator() >> 9);
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (output.size() == 2 && output[0] == data.x.front() && output[1] == data.x.back()) reporter.pass();
    else reporter.fail() << "not the first value and the last";
}
