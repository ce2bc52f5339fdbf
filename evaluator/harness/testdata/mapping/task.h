#pragma once

#include <array>
#include <vector>

// Values, and how many nanoseconds a call is to take.
struct input_t {
    std::vector<float> x;
    long ns;
};

// The first value and the last.
using output_t = std::vector<float>;

constexpr std::array<const char*, 3> ArgumentNames{"size", "ns", "seed"};
