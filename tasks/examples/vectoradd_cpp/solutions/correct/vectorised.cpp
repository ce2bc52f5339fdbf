#include <cstddef>
#include <utility>

#include "task.h"

// The pointers do not overlap, so the compiler may use whole vector registers.
static void add(const float* __restrict a, const float* __restrict b, float* __restrict out, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) out[i] = a[i] + b[i];
}

output_t custom_kernel(input_t data) {
    add(data.a.data(), data.b.data(), data.out.data(), data.out.size());
    return std::move(data.out);
}
