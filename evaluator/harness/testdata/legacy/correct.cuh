output_t custom_kernel(input_t data) {
    for (float& value : data) value = std::sqrt(value);
    return data;
}
