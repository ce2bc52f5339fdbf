// Submissions for a device, honest and not; the environment's WAY chooses one.
#include <chrono>
#include <thread>
#include <utility>

#include "task.h"

static void multiply(const float* a, float* out, size_t size, float by, int us) {
    std::this_thread::sleep_for(std::chrono::microseconds(us));
    for (size_t i = 0; i < size; ++i) out[i] = a[i] * by;
}

enum Way { in_place, own_answer, apart_answer, many_buffers, host_wait, side_joined, side_stream, stale, copied_before, overrun };

static int way() {
    static const int chosen = std::atoi(std::getenv("WAY"));
    return chosen;
}

output_t custom_kernel(input_t data) {
    const float by = static_cast<float>(data.factors.at(0) + data.factors.at(1)) * data.scale;
    const float* a = data.a.data();
    const size_t size = data.a.size();
    float* out = data.out.data();
    if (way() == own_answer) {
        output_t answer(size);
        fake::launch([=, out = answer.data()] { multiply(a, out, size, by, 300); });
        return answer;
    }
    if (way() == apart_answer) {  // of memory that is no region's
        float* kept = static_cast<float*>(std::malloc(size * sizeof(float)));
        fake::launch([=] { multiply(a, kept, size, by, 300); });
        return output_t::view(kept, size);
    }
    if (way() == many_buffers) {  // more than were shared
        static std::vector<output_t> all;
        all.clear();
        for (int i = 0; i < 20; ++i) all.emplace_back(size);
        output_t answer(size);
        fake::launch([=, out = answer.data()] { multiply(a, out, size, by, 300); });
        return answer;
    }
    if (way() == host_wait) cudaDeviceSynchronize();
    if (way() == side_stream || way() == side_joined) {
        // The side stream waits for the release as blocking streams do, and nothing waits for it.
        auto gate = std::make_shared<std::atomic<bool>>(false);
        fake::launch([=] { *gate = true; });
        fake::launch([=] { while (!*gate) std::this_thread::yield(); multiply(a, out, size, by, 3000); }, &fake::side());
        if (way() == side_joined) fake::launch([] { fake::side().wait(); });
        return std::move(data.out);
    }
    if (way() == overrun) {
        fake::launch([=] { multiply(a, out, size, by, 0); out[size] = 1; });
        return std::move(data.out);
    }
    if (way() == stale) return std::move(data.out);
    if (way() == copied_before) {  // as a copy engine can: what stands there for a while after it was written
        auto released = std::make_shared<std::atomic<bool>>(false);
        auto copy = std::make_shared<std::vector<float>>(a, a + size);
        fake::launch([=] {
            const std::vector<float> before = *copy;
            for (int same = 0; same < 3 && !*released;) {
                std::vector<float> now(a, a + size);
                same = now == *copy && now != before ? same + 1 : 0;
                *copy = now;
            }
        }, &fake::side());
        fake::launch([=] {
            *released = true;
            fake::side().wait();
            multiply(copy->data(), out, size, by, 0);
        });
        return std::move(data.out);
    }
    fake::launch([=] { multiply(a, out, size, by, 300); });
    return std::move(data.out);
}
