#pragma once

#include <array>
#include <vector>

// So many values in (0, 1) as the seed says: each call has another length.
struct input_t {
    std::vector<float> x;
};

// One number: the sum of what comes of all values.
using output_t = std::vector<float>;

constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr int rounds = 60;
