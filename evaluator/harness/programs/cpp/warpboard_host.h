// The CPU as a device. It has only host memory, and its calls wait for their release in the runner's process.
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
    void give_back(void*) {}
};

// HostRunner makes calls on the CPU, in the runner's process.
class HostRunner : public NoDeviceMemory {
public:
    static constexpr bool released_on_host = true;

    void open(Page&) { Waiter::sleep_exactly(); }
    void begin_range() {}
    void end_range() {}

    // Waits for the release, and starts the clock. It first sleeps for 70 % of the shortest wait so far: a process that
    // has spun for long soon loses its core to other processes. It sleeps in several parts, because the release may
    // come sooner than in all earlier calls.
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

    // Does the work of an empty call of the judge's own runner, which is none on the CPU.
    void work() {}

private:
    static constexpr int parts = 8;

    double begin_ = 0;
    double end_ = 0;
    double least_wait_ = 0;
};

// HostJudge is the judge's side of calls on the CPU.
class HostJudge : public NoDeviceMemory {
public:
    static constexpr bool released_on_host = true;
    static constexpr bool switches_in_call = false;
    // The time to copy an answer may vary much with other work on the machine: without a switch of contexts no work can
    // be hidden in it, and late writes are detected, because the judge copies in an unpredictable order. If other
    // processes use the cores, some calls start late, but none starts early: so the lower quartile of the calls is
    // used.
    static constexpr Bounds bounds{host_tolerance_ns, 20e3, 20e3, 1.0, 0.25, 0, 0};
    static constexpr int calibrations = host_calibrations;
    static constexpr size_t calls_of_one_process = host_process_calls;

    void open() { cold_.resize(flush_bytes()); }

    // Fills the caches with other data, and then sleeps for 20 µs: if other processes want the core, they get it now,
    // and the next steps run without interruption.
    void flush() {
        std::memset(cold_.data(), ++fill_, cold_.size());
        sleep(20e3);
    }
    static constexpr size_t sealed_bytes = 0;
    unsigned choose_sealed(const std::vector<WrittenArray>&, const void*) { return 0; }
    void begin_writing(uint32_t, void*) { kept_.clear(); }

    // Returns private memory for an input of this many bytes. At the release, restore copies it to the address there.
    unsigned char* keep(unsigned char* there, size_t bytes) {
        there_ = there;
        kept_.resize(bytes);
        return kept_.data();
    }
    // Loads the private copy of the input into the caches, so that restore takes the shortest time.
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

    // These do nothing on the host: the processor itself copies answers there.
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
    // Returns twice the size of the last-level cache in bytes, limited to a sensible range, because the system may
    // report no size, or the size for a whole socket.
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
