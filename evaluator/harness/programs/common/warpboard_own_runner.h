// The judge's own runner. Its kernel only overwrites the same memory as a case's answer, so the rest of its calls' time
// is no kernel's.
#ifndef WARPBOARD_OWN_RUNNER_H
#define WARPBOARD_OWN_RUNNER_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "warpboard_door.h"
#include "warpboard_runner.h"
#include "warpboard_session.h"

namespace warpboard {

struct Nothing {};

// Stretches lists the memory that the own runner's kernel overwrites. It lies in shared memory, where the judge sets it
// before a call.
struct Stretches {
    static constexpr size_t most = 64;
    struct Stretch {
        size_t region, offset, bytes;
    };
    size_t count;
    Stretch stretches[most];
};

template <class Device>
class OwnMemory {
public:
    OwnMemory(Device& device, const Stretches& stretches) : device_(device), stretches_(stretches) {}

    void map(Region& region, int fd) {
        const bool on_device = region.kind == REGION_DEVICE;
        if (!on_device) region.base = map_shared(fd, region.size);
        const bool mapped = on_device ? device_.map(region, fd) : region.base != nullptr;
        close(fd);
        if (!mapped) throw std::runtime_error("shared memory cannot be mapped");
        regions_.push_back(region);
    }
    void drop(const std::vector<Region>& regions) {
        for (const Region& region : regions) {
            if (region.kind == REGION_DEVICE) device_.drop(region);
            else munmap(region.base, region.size);
        }
        regions_.clear();
    }
    void overwrite() {
        for (size_t i = 0; i < stretches_.count; ++i) {
            const Stretches::Stretch& s = stretches_.stretches[i];
            const Region& region = regions_[s.region];
            if (region.kind == REGION_DEVICE) device_.fill(region.base + s.offset, s.bytes);
            else change_all(region.base + s.offset, s.bytes);
        }
    }

    void* take(bool, size_t) { return nullptr; }
    size_t wanted() { return 0; }
    void copy(bool, void*, const void*, size_t) {}
    void give_copies() {}
    static void place_next(void*, size_t) {}
    static void poison(bool) {}

private:
    static constexpr size_t cache_line = 64;

    // Changes at least one byte in each cache line of the memory, also in the last line if that starts in the middle.
    static void change_all(unsigned char* bytes, size_t count) {
        for (size_t at = 0; at < count; at += cache_line) change(bytes + at);
        if (count > 0) change(bytes + count - 1);
    }

    // Changes a byte by reading and writing it, as kernels do. memset would bypass the caches, which changes the time
    // of the later copy.
    static void change(unsigned char* byte) {
        auto* seen = static_cast<volatile unsigned char*>(byte);
        *seen = *seen ^ 0x5A;
    }

    Device& device_;
    const Stretches& stretches_;
    std::vector<Region> regions_;
};

template <class Device>
struct OwnKernel {
    inline static Device* device = nullptr;
    inline static OwnMemory<Device>* memory = nullptr;

    template <class Stop>
    static void call(Nothing&, Stop stop) {
        device->work();
        memory->overwrite();
        stop(Nothing{});
    }
};

// OwnRunner is forked before the judge uses a device or reads anything, and ends with the judge.
template <class Device>
class OwnRunner {
public:
    OwnRunner() {
        int ends[2];
        const int page = make_shared_memory(page_bytes);
        void* shared = mmap(nullptr, sizeof(Stretches), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page < 0 || shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail();
        stretches_ = static_cast<Stretches*>(shared);
        const pid_t child = fork();
        if (child < 0) fail();
        if (child == 0) serve(ends[1], page);
        close(ends[1]);
        session_ = std::make_unique<Session>(ends[0], page);
    }

    // Makes later calls overwrite the memory of the given answer.
    void overwrite(const std::vector<Region>& regions, const std::vector<int>& descriptors, const std::vector<AnswerReader::Copy>& answer) {
        ours([&] { session_->share(regions, descriptors); });
        stretches_->count = 0;
        for (const AnswerReader::Copy& copy : answer) {
            for (size_t i = 0; i < regions.size() && stretches_->count < Stretches::most; ++i) {
                if (!regions[i].holds(copy.from, copy.bytes)) continue;
                stretches_->stretches[stretches_->count++] = {i, regions[i].offset_of(copy.from), copy.bytes};
                break;
            }
        }
    }

    // Makes one call with this many sealed records. prepare(number) does the judge's work before the release, and
    // returns the descriptor of the input; if first is set, it is called before the description, with number 0. copy
    // does the judge's work after the end of the call.
    template <class Prepare, class JudgeDevice, class Copy>
    Stamps call(uint32_t sealed, bool first, Prepare prepare, JudgeDevice& judge, Copy copy) {
        Stamps stamps;
        ours([&] { measure(sealed, first, prepare, judge, copy, stamps); });
        return stamps;
    }

private:
    static constexpr size_t page_bytes = 2 * sizeof(Page);

    template <class Prepare, class JudgeDevice, class Copy>
    void measure(uint32_t sealed, bool first, Prepare prepare, JudgeDevice& judge, Copy copy, Stamps& stamps) {
        if (!ready_) session_->wait_ready();
        ready_ = true;
        int input = first ? prepare(0) : -1;
        session_->announce(0, "", sealed, stamps);
        session_->wait_queued(-1, stamps);
        judge.sample_after(session_->page(), session_->number());
        if (!first) input = prepare(session_->number());
        if constexpr (Device::released_on_host) session_->release_host(stamps, input, [&] { judge.restore(); });
        else session_->release_device(stamps, judge);
        session_->wait_end_of_call(stamps, !Device::released_on_host);
        copy(stamps);
        session_->read_event(stamps);
    }

    // Turns failures of this runner into failures of the judge: they are not the submission's fault.
    template <class Function>
    static void ours(Function function) {
        try {
            function();
        } catch (const Gone&) {
            throw std::runtime_error("the judge's own runner has ended");
        } catch (const Refused& refused) {
            throw std::runtime_error("the judge's own runner: " + refused.sentence);
        }
    }

    [[noreturn]] static void fail() {
        std::fprintf(stderr, "the judge cannot start a process of its own\n");
        std::_Exit(1);
    }

    [[noreturn]] void serve(int channel, int page) const {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int inherited : {3, door_fd}) {
            if (inherited != channel && inherited != page) close(inherited);
        }
        const int code = run_runner([&] {
            Device device;
            OwnMemory<Device> memory(device, *stretches_);
            OwnKernel<Device>::device = &device;
            OwnKernel<Device>::memory = &memory;
            Runner<Nothing, Nothing, OwnKernel<Device>, Device, OwnMemory<Device>>(channel, page, device, memory).serve();
        });
        std::_Exit(code);
    }

    std::unique_ptr<Session> session_;
    Stretches* stretches_ = nullptr;
    bool ready_ = false;
};

}  // namespace warpboard

#endif
