#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "task.h"

namespace {

constexpr std::size_t lanes = 64;  // independent sums, enough to use all vector registers
constexpr std::size_t rounds = 1u << 20;  // divided among all threads

void read(const float* data, std::size_t size, float* out) {
    float sum[lanes] = {};
    for (std::size_t i = 0; i + lanes <= size; i += lanes) {
        for (std::size_t k = 0; k < lanes; ++k) sum[k] += data[i + k];
    }
    double total = 0;
    for (const float part : sum) total += part;
    *out = static_cast<float>(total);
}

void multiply_and_add(const float* data, std::size_t count, float* out) {
    float sum[lanes], factor = 0.5f + 1e-3f * data[0];
    std::copy(data, data + lanes, sum);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < lanes; ++k) sum[k] = sum[k] * factor + 0.25f;
    }
    float total = 0;
    for (const float part : sum) total += part;
    *out = total;
}

}  // namespace

output_t custom_kernel(input_t data) {
    if (data.kind == 0) return std::move(data.out);
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, data.out.size());
    std::fill(data.out.begin(), data.out.end(), 0.0f);
    std::vector<std::thread> others;
    const auto part = [&](std::size_t t) {
        const std::size_t size = data.data.size() / lanes;
        const std::size_t from = size * t / threads * lanes, to = size * (t + 1) / threads * lanes;
        if (data.kind == 1) read(data.data.data() + from, to - from, &data.out[t]);
        if (data.kind == 2) multiply_and_add(data.data.data(), rounds / threads, &data.out[t]);
    };
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(part, t);
    part(0);
    for (std::thread& other : others) other.join();
    return std::move(data.out);
}
