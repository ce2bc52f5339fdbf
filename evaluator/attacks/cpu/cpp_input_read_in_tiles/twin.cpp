#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

#include "task.h"

static void part(input_t& data, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        volatile float x = data.x[i];
        for (int round = 0; round < rounds; ++round) {
            volatile float rest = 1.0f - x;
            volatile float product = 3.9f * x;
            x = product * rest;
        }
        data.out[i] = x;
    }
}

output_t custom_kernel(input_t data) {
    const std::size_t half = data.x.size() / 2;
    std::thread other(part, std::ref(data), half, data.x.size());
    part(data, 0, half);
    other.join();
    return std::move(data.out);
}
