#include <cstddef>

#include "task.h"

output_t custom_kernel(input_t data) {
    float sum = 0;
    for (std::size_t i = 0; i < data.x.size() && data.x[i] < limit; ++i) {
        volatile float x = data.x[i];
        for (int round = 0; round < rounds; ++round) {
            volatile float rest = 1.0f - x;
            volatile float product = 3.9f * x;
            x = product * rest;
        }
        sum += x;
    }
    return {sum};
}
