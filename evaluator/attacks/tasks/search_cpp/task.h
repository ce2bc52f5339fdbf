#pragma once

#include <array>
#include <vector>

struct input_t {
    std::vector<float> x;
};

// One number: the sum of the results for the values of x before the first value that is at least limit.
using output_t = std::vector<float>;

constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr float limit = 0.9999f;
constexpr int rounds = 4;
