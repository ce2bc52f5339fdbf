#include "task.h"

// Right until the second case, then never comes back.
output_t custom_kernel(input_t data) {
    volatile bool forever = data.values.size() > 100;
    while (forever) {
    }
    for (float& value : data.values) value *= data.factor;
    return data.values;
}
