#pragma once
#include <stdexcept>

#include "task.h"
#include "utils.h"

// A moving scale differs from call to call; broken says what fails.
static input_t generate_input(int size, bool moving, const std::string& broken, uint64_t seed) {
    if (broken == "generator") throw std::runtime_error("no such luck");
    if (broken == "memory") return {DeviceBuffer<float>(size_t{1} << 40), {}, {}, 0};
    warpboard::Random random(seed);
    std::vector<float> host(size);
    for (float& value : host) value = random.uniform();
    return {DeviceBuffer<float>(host.data(), host.size()), DeviceBuffer<float>(size), {2, 3}, moving ? random.uniform() : 0.5f};
}

static DeviceBuffer<double> reference_fp64(const input_t& data) {
    if (data.a.size() == 300000) throw std::runtime_error("too many");
    std::vector<float> a(data.a.size());
    data.a.copy_to(a.data());
    std::vector<double> out;
    for (const float value : a) out.push_back(5.0 * data.scale * value);
    return DeviceBuffer<double>(out.data(), out.size());
}

static void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output) {
    if (data.a.size() == 777) throw std::runtime_error("an odd size");
    if (!reporter.check_equal("size", output.size(), data.a.size())) return;
    std::vector<float> a(data.a.size()), got(output.size());
    data.a.copy_to(a.data());
    output.copy_to(got.data());
    for (size_t i = 0; i < a.size(); ++i) {
        const float want = a[i] * (5 * data.scale);
        if (got[i] != want) {
            reporter.fail() << "error at " << i << ": expected " << want << ", got " << got[i];
            return;
        }
    }
    reporter.pass();
}
