#pragma once

#include <array>
#include <cstdint>
#include <vector>

// What one call is given: the values, and memory for their running sums.
struct input_t {
    std::vector<uint32_t> in;
    std::vector<uint32_t> out;
};

// The running sums modulo 2³²; their number is that of the values.
using output_t = std::vector<uint32_t>;

// The arguments of generate_input, in its order.
constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};
