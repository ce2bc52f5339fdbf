#pragma once

#include <array>
#include <vector>

// Values in (0, 1). Their number depends on the seed, so it differs from call to call.
struct input_t {
    std::vector<float> x;
};

// One number: the sum of the results for all values.
using output_t = std::vector<float>;

constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr int rounds = 60;
