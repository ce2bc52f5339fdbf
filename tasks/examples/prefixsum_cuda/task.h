#pragma once

#include <array>
#include <cstdint>

#include "utils.h"

// What one call is given, in GPU memory: the values, and memory for their running sums.
struct input_t {
    DeviceBuffer<uint32_t> in;
    DeviceBuffer<uint32_t> out;
};

// The running sums modulo 2³²; their number is that of the values.
using output_t = DeviceBuffer<uint32_t>;

// The arguments of generate_input, in its order.
constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};
