#pragma once

#include <array>
#include <vector>

struct input_t {
    std::vector<float> x;
};

// The doubled values of x, in vectors of 64.
using output_t = std::vector<std::vector<float>>;

constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr int piece = 64;
