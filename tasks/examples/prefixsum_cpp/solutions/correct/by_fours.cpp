#include <cstddef>
#include <utility>

#include "task.h"

// Sums within groups of four first, so that only one addition in four waits for the one before.
output_t custom_kernel(input_t data) {
    const uint32_t* in = data.in.data();
    uint32_t* out = data.out.data();
    const std::size_t size = data.in.size();
    uint32_t carry = 0;
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        const uint32_t s0 = in[i], s1 = s0 + in[i + 1];
        const uint32_t s2 = s1 + in[i + 2], s3 = s1 + (in[i + 2] + in[i + 3]);
        out[i] = carry + s0;
        out[i + 1] = carry + s1;
        out[i + 2] = carry + s2;
        out[i + 3] = carry + s3;
        carry += s3;
    }
    for (; i < size; ++i) out[i] = carry += in[i];
    return std::move(data.out);
}
