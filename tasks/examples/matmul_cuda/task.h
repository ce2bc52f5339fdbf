#pragma once

#include <array>

#include "utils.h"

// What one call is given, in GPU memory: A (m × k), B (k × n) and memory for C (m × n), row by row.
struct input_t {
    int m, n, k;
    DeviceBuffer<float> a;
    DeviceBuffer<float> b;
    DeviceBuffer<float> out;
};

// C, m × n, row by row.
using output_t = DeviceBuffer<float>;

// The arguments of generate_input, in its order.
constexpr std::array<const char*, 4> ArgumentNames{"m", "n", "k", "seed"};
