#pragma once

#include <cstdint>
#include <random>

#include "task.h"
#include "utils.h"

static input_t generate_input(int size, int seed) {
    input_t data;
    std::mt19937 generator(static_cast<uint32_t>(seed));
    data.x.resize(size + generator() % 64);
    for (float& x : data.x) x = static_cast<float>(generator() >> 9) * 0x1p-23f;
    return data;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    float sum = 0;
    for (float value : data.x) {
        volatile float x = value;
        for (int round = 0; round < rounds; ++round) {
            volatile float rest = 1.0f - x;
            volatile float product = 3.9f * x;
            x = product * rest;
        }
        sum += x;
    }
    if (output.size() == 1 && output[0] == sum) reporter.pass();
    else reporter.fail() << "expected " << sum;
}
