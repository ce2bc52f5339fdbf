#include <cstddef>
#include <utility>

#include "task.h"

// Leaves each element out of its own sum: an exclusive prefix sum.
output_t custom_kernel(input_t data) {
    uint32_t sum = 0;
    for (std::size_t i = 0; i < data.in.size(); ++i) {
        data.out[i] = sum;
        sum += data.in[i];
    }
    return std::move(data.out);
}
