// The CPU as a device: memory of the host alone, and calls that wait for their release on the host.
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

// What a host has not: memory of a device.
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

// The runner's side.
class HostRunner : public NoDeviceMemory {
public:
    static constexpr bool released_on_host = true;

    void open(Page&) { Waiter::sleep_exactly(); }
    void begin_range() {}
    void end_range() {}

    // Waits for the release, and starts the clock. It sleeps for most of what preparing took the judge before: a
    // process that has spun for long is soon without a core where others want one, too. It sleeps in parts: after a call
    // that was prepared slowly, the next ones may be released while it sleeps.
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

    // What the judge's own runner does, to learn what a call costs that does nothing.
    void work() {}

private:
    static constexpr int parts = 8;

    double begin_ = 0;
    double end_ = 0;
    double least_wait_ = 0;
};

// The judge's side.
class HostJudge : public NoDeviceMemory {
public:
    static constexpr bool released_on_host = true;
    static constexpr bool switches_in_call = false;
    // Copying varies much with what else the machine does, and may: there is no switch of contexts behind which
    // work could go on, and what is written while the judge copies in an order of its own is found out.
    // Where other processes want the cores, some calls are handed over late. None is handed over early, so that the
    // quicker calls tell as well how long the kernel takes.
    static constexpr Bounds bounds{host_tolerance_ns, 20e3, 20e3, 1.0, 0.25, 0, 0};
    static constexpr int calibrations = host_calibrations;
    static constexpr size_t calls_of_one_process = host_process_calls;

    void open() { cold_.resize(flush_bytes()); }

    // Fills caches with something else, and then sleeps for a moment: where others want the core, what follows
    // has the time to run through.
    void flush() {
        std::memset(cold_.data(), ++fill_, cold_.size());
        sleep(20e3);
    }
    static constexpr size_t sealed_bytes = 0;
    unsigned choose_sealed(const std::vector<WrittenArray>&, const void*) { return 0; }
    void begin_writing(uint32_t, void*) { kept_.clear(); }

    // Memory for an input of so many bytes that is to be there at the release.
    unsigned char* keep(unsigned char* there, size_t bytes) {
        there_ = there;
        kept_.resize(bytes);
        return kept_.data();
    }
    // Has what is kept in the caches, so that writing it takes no longer than it must.
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

    // What lies on the host is copied by the processor.
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
    // Twice the last-level cache, within what is sensible when the system does not tell it or tells
    // that of a whole socket.
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
