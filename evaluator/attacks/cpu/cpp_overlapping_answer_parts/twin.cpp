#include <cstddef>

#include "task.h"

output_t custom_kernel(input_t data) {
    output_t pieces(data.x.size() / piece, std::vector<float>(piece));
    for (std::size_t i = 0; i < data.x.size(); ++i) pieces[i / piece][i % piece] = 2 * data.x[i];
    return pieces;
}
