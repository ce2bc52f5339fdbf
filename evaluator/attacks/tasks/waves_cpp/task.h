#pragma once

#include <array>
#include <vector>

// What one call is given: values in (0, 1), and memory for the answer.
struct input_t {
    std::vector<float> x;
    std::vector<float> out;
};

// Every value after some rounds.
using output_t = std::vector<float>;

// The arguments of generate_input, in its order.
constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr int rounds = 4;
