#include <utility>

#include "task.h"

// Writes far outside its memory: the program ends with a signal.
output_t custom_kernel(input_t data) {
    volatile float* out = data.out.data();
    out[1L << 40] = data.a[0] + data.b[0];
    return std::move(data.out);
}
