// The device stays with the judge from the first byte of an input to the release: the last thing that the judge queues
// is a kernel that spins until the release. Without it, a device that idles there goes to the runner's context too
// early now and then: the hand-over was shorter by 75 µs in some calls, and a kernel that waited for the input had it early.
// Where another context had a turn nevertheless, the kernel sees a gap.
#ifndef WARPBOARD_HOLD_H
#define WARPBOARD_HOLD_H

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "warpboard_driver.h"
#include "warpboard_page.h"

namespace warpboard {

#ifndef WARPBOARD_DEVICE_NS
// The device's clock in nanoseconds, the same for all contexts.
#define WARPBOARD_DEVICE_NS(now) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now))
#endif

// What the kernels and the judge tell each other, in memory of the host. Times are the device's.
struct HoldWords {
    alignas(64) unsigned long long first;  // before the first byte is written
    unsigned long long held_at;            // when all was written
    unsigned long long gap;                // the longest time without the device after that
    alignas(64) unsigned held;             // the hold that runs
    alignas(64) unsigned released;         // the hold that is to end
};

// Kernels of one signature, so that one function launches them.
static __global__ void begin_writing(volatile HoldWords* words, unsigned, unsigned long long) {
    unsigned long long now;
    WARPBOARD_DEVICE_NS(now);
    words->first = now;
}

// It ends after most nanoseconds in any case, and says that all of that was a gap.
static __global__ void hold_device(volatile HoldWords* words, unsigned number, unsigned long long most) {
    unsigned long long first, now;
    WARPBOARD_DEVICE_NS(first);
    words->held_at = first;
    __threadfence_system();
    words->held = number;
    unsigned long long last = first, gap = 0;
    for (bool released = false; !released;) {
        released = words->released == number;
        WARPBOARD_DEVICE_NS(now);
        if (now - last > gap) gap = now - last;
        last = now;
        if (!released && now - first > most) {
            gap = now - first;
            break;
        }
    }
    words->gap = gap;
}

class Hold {
public:
    // Needs a context.
    void open() {
        void* memory = mmap(nullptr, sizeof(HoldWords), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        words_ = new (memory) HoldWords{};
        WARPBOARD_CUDA(cudaHostRegister(memory, sizeof(HoldWords), cudaHostRegisterMapped));
        WARPBOARD_CUDA(cudaHostGetDevicePointer(&seen_, memory, 0));
    }

    // Marks the moment before the first byte is written.
    void begin() { launch(reinterpret_cast<const void*>(&begin_writing)); }

    // Queues the kernel behind what is to be written, and waits until it runs.
    void take() {
        ++number_;
        launch(reinterpret_cast<const void*>(&hold_device));
        Waiter waiter(1e9);
        while (read(words_->held) != number_) {
            if (waiter.elapsed() > wait_ns) throw std::runtime_error("the device did not come to the judge's last kernel before a release");
            waiter.pause();
        }
    }

    void let_go() { __atomic_store_n(&words_->released, number_, __ATOMIC_RELEASE); }

    // The nanoseconds from begin to the release in which something else could run; only once the kernel has ended.
    double took() const { return static_cast<double>(read(words_->held_at) - read(words_->first) + read(words_->gap)); }

private:
    static constexpr unsigned long long most_ns = 200'000'000;
    static constexpr double wait_ns = 30e9;

    template <class Word>
    static Word read(const Word& word) {
        return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
    }

    void launch(const void* kernel) {
        unsigned number = number_;
        unsigned long long most = most_ns;
        void* arguments[] = {&seen_, &number, &most};
        WARPBOARD_CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, cudaStreamLegacy));
    }

    HoldWords* words_ = nullptr;
    void* seen_ = nullptr;  // where the device finds them
    unsigned number_ = 0;
};

}  // namespace warpboard

#endif
