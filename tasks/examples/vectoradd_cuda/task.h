#pragma once

#include <array>

#include "utils.h"

// What one call is given: two vectors of equal length in GPU memory, and memory for their sum.
struct input_t {
    DeviceBuffer<float> a;
    DeviceBuffer<float> b;
    DeviceBuffer<float> out;
};

// The sum; its length is that of the inputs.
using output_t = DeviceBuffer<float>;

// The arguments of generate_input, in its order.
constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};
