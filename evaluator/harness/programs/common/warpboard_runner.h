// The runner: creates the arguments of custom_kernel from shared memory, calls it when the judge releases a call, and
// describes the answer. It receives nothing else, and decides nothing.
#ifndef WARPBOARD_RUNNER_H
#define WARPBOARD_RUNNER_H

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_channel.h"
#include "warpboard_input.h"
#include "warpboard_page.h"

namespace warpboard {

constexpr int channel_fd = 4;
constexpr int page_fd = 5;

// Runner serves calls of Kernel on a Device. Memory maps regions, creates inputs, and copies answers.
template <class Input, class Output, class Kernel, class Device, class Memory>
class Runner {
public:
    Runner(int channel, int page, Device& device, Memory& memory)
        : channel_(channel), page_(page), device_(device), memory_(memory) {}

    // Serves calls until the judge ends or closes the channel.
    void serve() {
        device_.open(*page_.page);
        channel_.ready();
        for (;;) {
            Frame frame = channel_.receive();
            if (frame.kind == FRAME_CASE) new_regions(frame);
            else if (frame.kind == FRAME_CALL) call(frame.body);
            else return;
        }
    }

private:
    void new_regions(Frame& frame) {
        forget();
        memory_.drop(regions_);
        regions_.clear();
        Reader in(frame.body.data(), frame.body.size());
        for (int fd : frame.descriptors) {
            Region region;
            region.kind = in.number<uint32_t>();
            region.role = in.number<uint32_t>();
            region.size = static_cast<size_t>(in.number<uint64_t>());
            memory_.map(region, fd);
            regions_.push_back(region);
        }
    }

    // Frees the last answer, which the judge has copied.
    void forget() {
        last_.reset();
        memory_.give_copies();
    }

    void call(const std::string& body) {
        forget();
        Reader in(body.data(), body.size());
        number_ = in.number<uint32_t>();
        const bool range = (in.number<uint32_t>() & CALL_RANGE) != 0;
        const std::string description = body.substr(body.size() - in.left());
        InputMaker<Memory> maker(description, Device::released_on_host, region(REGION_HOST), region(REGION_DEVICE));
        Input input{};
        maker.make(input);
        if (Device::released_on_host) let_input_go();
        Memory::poison(false);
        if constexpr (Device::released_on_host) device_.begin(*page_.page, number_, [this] { return take_input(); }, [&] { maker.fill(); });
        else {
            device_.begin(*page_.page, number_, region(REGION_DEVICE), region(REGION_DEVICE, REGION_SEALED));
            maker.fill_device([this](void* into, const void* from, size_t bytes) { device_.copy(into, from, bytes); });
        }
        // after the gate, because a profiler that replayed the gate would undo the release
        if (range) device_.begin_range();
        Kernel::call(input, [this, range](Output&& output) { stop(std::move(output), range); });
    }

    // Unmaps the input of the last call, because mapping other memory in place of mapped memory takes longer.
    void let_input_go() {
        const Region& inputs = region(REGION_HOST);
        if (is_mapped_in_call(inputs.size)) unmap_shared(inputs.base, inputs.size);
        for (int fd : input_.descriptors) close(fd);
        input_ = {};
    }

    // Reports whether the call is released. Maps a large input's memory in place of the last one: the arrays then have
    // the judge's data.
    bool take_input() {
        const Region& inputs = region(REGION_HOST);
        if (!is_mapped_in_call(inputs.size)) {
            const uint32_t released = page_.page->release.load(std::memory_order_acquire);
            if (released > number_) std::_Exit(0);  // the judge has ended all calls
            return released == number_;
        }
        if (!channel_.look(input_)) return false;
        if (input_.kind == FRAME_END) std::_Exit(0);
        for (int fd : input_.descriptors) map_shared(fd, inputs.size, inputs.base);
        return true;
    }

    // Stops the clock and reports the answer. The kernel's argument still exists, so that the time to free it does not
    // count.
    void stop(Output&& output, bool range) {
        device_.end();
        double ns = 0;
        if constexpr (Device::released_on_host) ns = device_.settle();
        describe(output);
        if constexpr (!Device::released_on_host) {  // the device itself writes "done"
            device_.say_done(number_);
            page_.page->queued.store(number_, std::memory_order_release);
            ns = device_.settle();
        }
        page_.page->ns.store(ns, std::memory_order_release);
        if constexpr (Device::released_on_host) page_.page->done.store(number_, std::memory_order_release);
        if (range) device_.end_range();
        Memory::poison(true);
        last_.emplace(std::move(output));
    }

    void describe(Output& output) {
        AnswerWriter<Memory> writer(regions_, memory_);
        writer.add(output);
        const std::string description = writer.description(page_.room);
        std::memcpy(page_.page->answer(), description.data(), description.size());
        page_.page->size.store(static_cast<uint32_t>(description.size()), std::memory_order_relaxed);
    }

    const Region& region(uint32_t kind, uint32_t role = REGION_INPUTS) const {
        static const Region nowhere{};
        for (const Region& r : regions_) {
            if (r.kind == kind && r.role == role) return r;
        }
        return nowhere;
    }

    RunnerChannel channel_;
    MappedPage page_;
    Device& device_;
    Memory& memory_;
    std::vector<Region> regions_;
    std::optional<Output> last_;  // the last answer, kept until the next call, because the judge reads it
    uint32_t number_ = 0;
    Frame input_;  // the frame with the descriptors of the mapped input
};

// Prints the exception of a submission and returns an exit code.
template <class Serve>
int run_runner(Serve serve) {
    try {
        serve();
        std::fflush(nullptr);
        return 0;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "uncaught exception: %s\n", e.what());
    } catch (...) {
        std::fprintf(stderr, "uncaught exception\n");
    }
    std::fflush(nullptr);
    return 1;
}

}  // namespace warpboard

#endif
