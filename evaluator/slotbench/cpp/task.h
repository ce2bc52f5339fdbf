#pragma once

#include <array>
#include <vector>

// kind selects the work: 0 nothing, 1 read all of data, 2 multiply and add.
struct input_t {
    int kind;
    std::vector<float> data;
    std::vector<float> out;
};

using output_t = std::vector<float>;

constexpr std::array<const char*, 3> ArgumentNames{"kind", "size", "seed"};
