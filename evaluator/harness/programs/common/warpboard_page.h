// The page of numbers that judge and runner share, and waits for a number in it.
#ifndef WARPBOARD_PAGE_H
#define WARPBOARD_PAGE_H

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "warpboard_limits.h"

namespace warpboard {

// Page has the layout that package judge documents. Each word is in a separate cache line, except the key, which is
// written before release and read together with it.
struct Page {
    std::atomic<uint32_t> release;
    std::atomic<uint32_t> key[3];
    unsigned char pad1[48];
    std::atomic<uint32_t> queued;
    unsigned char pad2[60];
    std::atomic<uint32_t> done;
    unsigned char pad3[4];
    std::atomic<double> ns;
    unsigned char pad4[48];
    std::atomic<uint32_t> size;
    unsigned char pad5[60];
    std::atomic<uint32_t> soon;
    unsigned char pad6[60];
    std::atomic<uint32_t> sealed;
    unsigned char pad7[60];
    std::atomic<uint32_t> active;
    unsigned char pad8[4096 - 388];

    unsigned char* answer() { return reinterpret_cast<unsigned char*>(this) + sizeof(Page); }
};
static_assert(offsetof(Page, key) == 4 && offsetof(Page, queued) == 64 && offsetof(Page, done) == 128 && offsetof(Page, ns) == 136 &&
                  offsetof(Page, size) == 192 && offsetof(Page, soon) == 256 && offsetof(Page, sealed) == 320 &&
                  offsetof(Page, active) == 384 && sizeof(Page) == 4096,
              "the page is shared with programs in other languages");

constexpr double no_ns = -0x1p1000;  // value of ns until the runner has reported its clock

// MappedPage is a page that stays mapped until the process ends.
struct MappedPage {
    Page* page = nullptr;
    size_t room = 0;  // bytes available for an answer's description

    MappedPage(Page* mapped, size_t bytes) : page(mapped), room(bytes - sizeof(Page)) {}

    explicit MappedPage(int fd) {
        struct stat info;
        if (fstat(fd, &info) != 0 || info.st_size <= static_cast<off_t>(sizeof(Page))) fail();
        void* memory = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory == MAP_FAILED) fail();
        page = static_cast<Page*>(memory);
        room = static_cast<size_t>(info.st_size) - sizeof(Page);
    }

private:
    [[noreturn]] static void fail() {
        std::fprintf(stderr, "the page that judge and runner share cannot be mapped\n");
        std::_Exit(2);
    }
};

inline double now_ns() {
    using namespace std::chrono;
    return static_cast<double>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

// Waiter waits for another process. It spins at first. Later it sleeps, each time for a fraction of the elapsed time: a
// long kernel then has the cores, and the measured time is wrong by less than half a percent. While spinning, it yields
// its core only if there is no other core: on a busy machine it would get the core back late.
class Waiter {
public:
    explicit Waiter(double spin = spin_ns, double parts = sleep_parts)
        : begin_(now_ns()), spin_(spin), parts_(parts), only_core_(cores() < 2) {}

    static Waiter for_device() { return Waiter(device_spin_ns, device_sleep_parts); }

    double elapsed() const { return now_ns() - begin_; }

    void pause() {
        if (++spins_ % 64 != 0) {
            relax();
            return;
        }
        const double passed = elapsed();
        if (passed < spin_) {
            if (only_core_) sched_yield();
            return;
        }
        spins_ = 63;  // from now on every call sleeps
        const double ns = passed / parts_ < 1e6 ? passed / parts_ : 1e6;
        const timespec time{0, static_cast<long>(ns)};
        nanosleep(&time, nullptr);
    }

    // Makes sleeps of this process end on time; by default the operating system adds up to 50 µs to each.
    static void sleep_exactly() { prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

private:
    static int cores() {
        cpu_set_t set;
        return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    }

    static void relax() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    double begin_;
    double spin_;
    double parts_;  // a sleep lasts the elapsed time divided by this
    bool only_core_;
    uint32_t spins_ = 0;
};

}  // namespace warpboard

#endif
