// Submissions that do unusual things with memory; CHOSEN says which.
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include "task.h"

enum { keeps_inputs, own_heap, throws, leaves, large_answer, grown_answer, late_writer };

static output_t product(const input_t& data) {
    output_t out(data.values.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = data.values[i] * data.factor;
    return out;
}

#ifdef OWN_HEAP
void* operator new(std::size_t size) {
    if (void* memory = std::malloc(size + 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

output_t custom_kernel(input_t data) {
    if (CHOSEN == keeps_inputs) {  // across calls and cases
        static std::vector<std::vector<float>> kept;
        output_t out = product(data);
        kept.push_back(std::move(data.values));
        if (kept.size() > 6) kept.erase(kept.begin(), kept.begin() + 4);
        return out;
    }
    if (CHOSEN == throws) throw std::runtime_error("out of ideas");
    if (CHOSEN == leaves) std::exit(0);
    if (CHOSEN == large_answer) {  // scratch memory beyond what is shared
        std::vector<std::vector<float>> scratch(30, std::vector<float>(1 << 20));
        return product(data);
    }
    if (CHOSEN == grown_answer) {
        output_t out;
        for (float value : data.values) out.push_back(value * data.factor);
        return out;
    }
    if (CHOSEN == late_writer) {  // says that it is done, and works on
        auto out = std::make_shared<output_t>(product(data));
        output_t early(out->size(), 0.0f);
        float* into = early.data();
        std::thread([out, into] {
            for (size_t i = out->size(); i-- > 0;) {
                into[i] = (*out)[i];
                if (i % 1000 == 0) std::this_thread::yield();
            }
        }).detach();
        return early;
    }
    return product(data);
}
