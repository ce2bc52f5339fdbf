#include <utility>

#include "task.h"

output_t custom_kernel(input_t data) {
    for (int i = 0; i < data.m; ++i) {
        for (int j = 0; j < data.n; ++j) {
            float sum = 0;
            for (int l = 0; l < data.k; ++l) sum += data.a[i * data.k + l] * data.b[l * data.n + j];
            data.out[i * data.n + j] = sum;
        }
    }
    return std::move(data.out);
}
