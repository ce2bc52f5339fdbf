#pragma once

#include <array>

#include "utils.h"

// kind selects the work: 0 nothing, 1 read all of data, 2 multiply and add.
struct input_t {
    int kind;
    DeviceBuffer<float> data;
    DeviceBuffer<float> out;
};

using output_t = DeviceBuffer<float>;

constexpr std::array<const char*, 3> ArgumentNames{"kind", "size", "seed"};
