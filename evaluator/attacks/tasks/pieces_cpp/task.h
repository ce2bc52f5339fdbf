#pragma once

#include <array>
#include <vector>

struct input_t {
    std::vector<float> x;
};

// The values in pieces of 64, each doubled.
using output_t = std::vector<std::vector<float>>;

constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr int piece = 64;
