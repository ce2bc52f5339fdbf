#pragma once
#include <array>
#include <string>
#include <vector>

struct Scaled {
    float factor;
    std::vector<float> values;
};

using input_t = Scaled;
using output_t = std::vector<float>;

constexpr std::array<const char*, 4> ArgumentNames = {"seed", "size", "scale", "kind"};
