#include "task.h"

output_t custom_kernel(input_t data) {
    float sum = 0;
    for (float value : data.x) {
        volatile float x = value;
        for (int round = 0; round < rounds; ++round) {
            volatile float left = 1.0f - x;
            volatile float product = 3.9f * x;
            x = product * left;
        }
        sum += x;
    }
    return {sum};
}
