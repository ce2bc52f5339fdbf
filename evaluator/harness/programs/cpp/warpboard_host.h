// The CPU as a device: only memory of the host, and calls that wait for their release on the host.
#ifndef WARPBOARD_HOST_H
#define WARPBOARD_HOST_H

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_limits.h"
#include "warpboard_page.h"
#include "warpboard_shared.h"

namespace warpboard {

inline void sleep(double ns) {
    const timespec time{0, static_cast<long>(std::min(ns, 500e6))};
    nanosleep(&time, nullptr);
}

// NoDeviceMemory implements the functions of a device's memory for a host, which has none.
struct NoDeviceMemory {
    bool map(Region&, int) { return false; }
    void drop(const Region&) {}
    void* take(size_t) { return nullptr; }
    void give(void*) {}
    size_t wanted() { return 0; }
    void copy(void*, const void*, size_t) {}
    void fill(void*, size_t) {}
    void* borrow(size_t) { return nullptr; }
    void give_back(void*, size_t) {}
};

// HostRunner is the runner's side.
class HostRunner : public NoDeviceMemory {
public:
    static constexpr bool released_on_host = true;

    void open(Page&) { Waiter::sleep_exactly(); }
    void begin_range() {}
    void end_range() {}

    // Waits for the release, and starts the clock. It first sleeps for most of the judge's shortest preparation so far:
    // a process that has spun for long soon loses its core if others want one. It sleeps in parts, because after a slow
    // preparation the next call may be released during the sleep.
    template <class Arrived, class Fill>
    void begin(Page& page, uint32_t number, Arrived arrived, Fill fill) {
        const double queued = now_ns();
        page.queued.store(number, std::memory_order_release);
        bool there = false;
        for (int part = 0; part < parts && !there; ++part) {
            sleep(0.7 * least_wait_ / parts);
            there = arrived();
        }
        for (Waiter waiter(1e9); !there; there = arrived()) waiter.pause();
        begin_ = now_ns();
        least_wait_ = least_wait_ > 0 ? std::min(least_wait_, begin_ - queued) : begin_ - queued;
        fill();
    }

    void end() { end_ = now_ns(); }
    double settle() const { return end_ - begin_; }

    // The work of the judge's own runner, which measures the cost of an empty call.
    void work() {}

private:
    static constexpr int parts = 8;

    double begin_ = 0;
    double end_ = 0;
    double least_wait_ = 0;
};

// HostJudge is the judge's side.
class HostJudge : public NoDeviceMemory {
public:
    static constexpr bool released_on_host = true;
    static constexpr bool switches_in_call = false;
    // The time to copy varies much with other work on the machine, and may: no switch of contexts can hide work, and a
    // late write is found because the judge copies in an unpredictable order. If other processes want the cores, some
    // calls are handed over late. None is handed over early, so the quicker calls show the kernel's time as well.
    static constexpr Bounds bounds{host_tolerance_ns, 20e3, 20e3, 1.0, 0.25, 0, 0};
    static constexpr int calibrations = host_calibrations;
    static constexpr size_t calls_of_one_process = host_process_calls;

    void open() { cold_.resize(flush_bytes()); }

    // Fills caches with other data, and then sleeps for a moment: if others want the core, the following steps have
    // time to run without interruption.
    void flush() {
        std::memset(cold_.data(), ++fill_, cold_.size());
        sleep(20e3);
    }
    static constexpr size_t sealed_bytes = 0;
    unsigned choose_sealed(const std::vector<WrittenArray>&, const void*) { return 0; }
    void begin_writing(uint32_t, void*) { kept_.clear(); }

    // Returns memory for an input of this size, to be written at the release.
    unsigned char* keep(unsigned char* there, size_t bytes) {
        there_ = there;
        kept_.resize(bytes);
        return kept_.data();
    }
    // Loads the kept input into the caches, so that writing it takes the shortest time.
    void hold() {
        for (size_t at = 0; at < kept_.size(); at += 64) static_cast<void>(*static_cast<volatile unsigned char*>(&kept_[at]));
    }
    void restore() {
        if (!kept_.empty()) std::memcpy(there_, kept_.data(), kept_.size());
    }
    void start() {}
    void rest() {}
    double writing_took() const { return 0; }
    bool at_once() const { return true; }

    // The processor copies answers on the host.
    void queue_copies(const std::vector<AnswerReader::Copy>&) {}
    void sample_after(Page*, uint32_t) {}
    void open_gate() {}
    void abandon() {}
    void blame_runner() {}
    bool wait_sampled() { return false; }
    void wait_copied() {}
    bool changed() { return false; }

    bool make(Region&, int&) { return false; }
    void write(void*, const void*, size_t) {}
    void poison(void*, size_t) {}
    size_t free_memory() { return static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

private:
    // Returns twice the size of the last-level cache, within sensible limits if the system does not report it, or
    // reports that of a whole socket.
    static size_t flush_bytes() {
        const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        return static_cast<size_t>(std::min(std::max(2 * cache, least_flush), most_flush));
    }

    std::vector<unsigned char> cold_;
    unsigned char fill_ = 0;
    std::vector<unsigned char> kept_;
    unsigned char* there_ = nullptr;
};

}  // namespace warpboard

#endif
