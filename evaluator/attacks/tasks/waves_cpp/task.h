#pragma once

#include <array>
#include <vector>

// The input of a call: values in [0, 1), and memory for the answer.
struct input_t {
    std::vector<float> x;
    std::vector<float> out;
};

// Each value of x after some rounds of arithmetic.
using output_t = std::vector<float>;

// The names of generate_input's arguments, in order.
constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};

constexpr int rounds = 4;
