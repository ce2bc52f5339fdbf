#pragma once
#include <array>
#include <vector>

#include "utils.h"

// Arrays of the device, and of the host, which custom_kernel's own code reads before the release.
struct input_t {
    DeviceBuffer<float> a;
    DeviceBuffer<float> out;
    std::vector<int> factors;
    float scale;
};

using output_t = DeviceBuffer<float>;

constexpr std::array<const char*, 4> ArgumentNames = {"size", "moving", "broken", "seed"};
