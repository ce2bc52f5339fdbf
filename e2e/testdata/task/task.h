#pragma once

#include <array>

struct input_t {
    long size;
    long seed;
};

using output_t = long;

constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};
