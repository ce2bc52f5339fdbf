#include <cmath>
#include <vector>

using input_t = std::vector<float>;
using output_t = std::vector<float>;

input_t generate_input() {
    input_t data(4096);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    return data;
}

output_t ref_kernel(input_t data) {
    for (float& value : data) value = std::sqrt(value);
    return data;
}

bool check_implementation(output_t custom, output_t reference) { return custom == reference; }
