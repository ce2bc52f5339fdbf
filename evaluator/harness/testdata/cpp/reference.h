#pragma once
#include <random>

#include "task.h"
#include "utils.h"

// Multiplies by scale; "shifted" inputs lie above 1.
static input_t generate_input(int seed, int size, double scale, const std::string& kind) {
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> dist(0, 1);
    input_t data{static_cast<float>(scale), std::vector<float>(size)};
    for (float& value : data.values) value = dist(rng) + (kind == "shifted_by_1" ? 1 : 0);
    return data;
}

static std::vector<double> reference_fp64(const input_t& data) {
    std::vector<double> out;
    for (const float value : data.values) out.push_back(static_cast<double>(data.factor) * value);
    return out;
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (!reporter.check_equal("size", output.size(), data.values.size())) return;
    for (size_t i = 0; i < output.size(); ++i) {
        const float want = data.factor * data.values[i];
        if (output[i] != want) {
            reporter.fail() << "error at " << i << ": expected " << want << ", got " << output[i];
            return;
        }
    }
    reporter.pass();
}
