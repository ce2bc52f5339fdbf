#include "task.h"

output_t custom_kernel(input_t data) {
    for (float& value : data.values) value *= data.factor;
    if (data.values.size() > 100) data.values[7] += 1;
    return data.values;
}
