#include <chrono>

#include "task.h"

output_t custom_kernel(input_t data) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(data.ns);
    output_t ends{data.x.front(), data.x.back()};
    while (std::chrono::steady_clock::now() < end) {
    }
    return ends;
}
