#pragma once

#include <array>
#include <vector>

// What one call is given: A (m × k), B (k × n) and memory for C (m × n), row by row.
struct input_t {
    int m, n, k;
    std::vector<float> a;
    std::vector<float> b;
    std::vector<float> out;
};

// C, m × n, row by row.
using output_t = std::vector<float>;

// The arguments of generate_input, in its order.
constexpr std::array<const char*, 4> ArgumentNames{"m", "n", "k", "seed"};
