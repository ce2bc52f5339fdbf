// The judge's core for Python: everything of a call on a device between "the input lies in the judge's memory" and "the answer
// lies in the judge's memory, with its clocks", and of a call on a host from its release to its end. It is compiled once per
// worker into a shared library (warpboard_core.py calls it), from the same headers as the judges of C++ and CUDA tasks, and for
// devices needs only the driver at run time.
//
// Functions return 0, or the kind of failure, whose message warpboard_error returns. Functions with several runners
// make one call of all of them at the same time. All functions make the device of a runner the current one.
#define WARPBOARD_JUDGE
#define __CUDACC__

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_judge_device.h"
#include "warpboard_kernels.h"
#include "warpboard_session.h"

namespace warpboard {

CUfunction judge_kernel(const char* name) {
    static std::map<CUcontext, CUmodule> modules;
    static std::map<std::pair<CUcontext, std::string>, CUfunction> kernels;
    CUcontext context = nullptr;
    WARPBOARD_CUDA(WARPBOARD_DRIVER(cuCtxGetCurrent)(&context));
    CUfunction& kernel = kernels[{context, name}];
    if (kernel != nullptr) return kernel;
    CUmodule& module = modules[context];
    if (module == nullptr) WARPBOARD_CUDA(WARPBOARD_DRIVER(cuModuleLoadData)(&module, PtxText::judge().c_str()));
    WARPBOARD_CUDA(WARPBOARD_DRIVER(cuModuleGetFunction)(&kernel, module, name));
    return kernel;
}

// CoreDevice is the judge's side of a device, in the context that is current at construction.
struct CoreDevice : JudgeDevice {
    CoreDevice() {
        WARPBOARD_CUDA(WARPBOARD_DRIVER(cuCtxGetCurrent)(&context));
        open();
    }
    void make_current() const { WARPBOARD_CUDA(WARPBOARD_DRIVER(cuCtxSetCurrent)(context)); }

    CUcontext context = nullptr;
};

// CoreRunner is a runner and its current call. If device is null, the runner makes calls on the host.
struct CoreRunner {
    using Copy = AnswerReader::Copy;

    CoreRunner(CoreDevice* its_device, int channel, Page* its_page, size_t bytes)
        : device(its_device), page(JudgeChannel(channel), MappedPage(its_page, bytes)) {
        if (device == nullptr) return;
        device->make_current();
        device->forget(its_page);  // an earlier runner that was never closed can have had its page at this address
        device->sample_after(its_page, 0);  // registers the page with the device
    }

    CoreDevice* device;
    JudgePage page;
    std::vector<WrittenArray> arrays;
    void* records = nullptr;    // the region for the sealed parts of inputs
    std::vector<Copy> answer;   // copies of this call's answer
    bool is_known = false;      // the answer's addresses are known
    bool is_open = false;       // the call has been released
    std::vector<Region> last;   // parts of the last answer, to be poisoned
    Stamps stamps;
};

namespace {

thread_local std::string message;

enum Failure { none = 0, failed = 1, refused = 2, gone = 3 };

// Runs a function, and returns the kind of its failure.
template <class Function>
int guarded(Function function) {
    try {
        function();
        return none;
    } catch (const Gone&) {
        message = "";
        return gone;
    } catch (const Refused& error) {
        message = error.sentence;
        return refused;
    } catch (const std::exception& error) {
        message = error.what();
        return failed;
    }
}

// Does one step for every runner. If it is refused, the message names the rank.
template <class Step>
void for_each_page(CoreRunner** runners, int count, Step step) {
    for (int i = 0; i < count; ++i) {
        try {
            step(*runners[i]);
        } catch (const Refused& error) {
            throw Refused{count > 1 ? "rank " + std::to_string(i) + ": " + error.sentence : error.sentence};
        }
    }
}

// Does one step for every runner, with its device as the current one.
template <class Step>
void for_each(CoreRunner** runners, int count, Step step) {
    for_each_page(runners, count, [&](CoreRunner& runner) {
        runner.device->make_current();
        step(runner);
    });
}

}  // namespace

}  // namespace warpboard

using namespace warpboard;

extern "C" {

// CoreTimes has the times of a call on the judge's clock, in nanoseconds.
struct CoreTimes {
    double switched;  // duration from the end of the hold until all gates ran
    double released;
    double done;
    double sampled;  // when the samples of answers were taken; equal to done without samples
};

// HostInput is an input of a call on a host. If bytes is not 0, it is copied to memory that the runner has. Its
// description is sent if it is not empty, and the descriptor of its memory if that is not -1.
struct HostInput {
    void* to;
    const void* from;
    size_t bytes;
    const char* description;
    size_t description_bytes;
    int descriptor;
};

const char* warpboard_error() { return message.c_str(); }

const char* warpboard_gate_ptx() {
    static const std::string text = PtxText::gate();
    return text.c_str();
}

size_t warpboard_sealed_bytes() { return JudgeDevice::sealed_bytes; }

int warpboard_open_device(CoreDevice** made) {
    return guarded([&] { *made = new CoreDevice; });
}

// Allocates device memory to share, at another physical address than the last. bytes becomes its rounded size.
int warpboard_make_region(CoreDevice* device, size_t* bytes, void** address, int* descriptor) {
    return guarded([&] {
        device->make_current();
        constexpr size_t step = size_t{2} << 20;
        Region region;
        region.size = std::max(rounded(*bytes, step), step);
        const CUmemGenericAllocationHandle space = DeviceMemory::space();
        const bool made = DeviceMemory::make(region, *descriptor);
        DeviceMemory::give_back(space);
        if (!made) throw std::runtime_error("out of memory: the device has no " + std::to_string(region.size) + " bytes to share");
        device->poison(region.base, region.size);  // another runner may have used this memory
        *bytes = region.size;
        *address = region.base;
    });
}

int warpboard_drop_region(CoreDevice* device, void* address, size_t bytes) {
    return guarded([&] {
        device->make_current();
        WARPBOARD_CUDA(cudaDeviceSynchronize());  // waits for queued work, because unmapping does not
        Region region;
        region.base = static_cast<unsigned char*>(address), region.size = bytes;
        DeviceMemory::drop(region, true);
    });
}

int warpboard_poison(CoreDevice* device, void* memory, size_t bytes) {
    return guarded([&] {
        device->make_current();
        device->poison(memory, bytes);
    });
}

int warpboard_flush(CoreDevice* device) {
    return guarded([&] {
        device->make_current();
        device->flush();
    });
}

// Opens a runner of a device, or of the host if device is null.
int warpboard_open_runner(CoreDevice* device, int channel, void* page, size_t bytes, CoreRunner** made) {
    return guarded([&] { *made = new CoreRunner(device, channel, static_cast<Page*>(page), bytes); });
}

// Closes and frees a runner that has ended.
int warpboard_close_runner(CoreRunner* runner) {
    return guarded([&] {
        if (runner->device != nullptr) {
            runner->device->make_current();
            runner->device->forget(runner->page.page());
        }
        delete runner;
    });
}

void warpboard_begin_case(CoreRunner* runner) { runner->page.begin_case(), runner->last.clear(); }

// Forgets the last answer, because its memory is replaced: it is not overwritten in the next call.
void warpboard_forget_answer(CoreRunner* runner) { runner->last.clear(); }

// Releases a call without an input, because the runner waits for it, but it will not be used.
void warpboard_leave(CoreRunner* runner) { runner->page.skip(); }

// Begins a call, and sets number to the call's number. arrays lists the copies of the input's device arrays from the
// judge's memory to the region at the address inputs; sealed parts are written to the region at records. On a host
// there are none.
int warpboard_begin_call(CoreRunner* runner, uint32_t flags, const WrittenArray* arrays, int count, void* inputs, void* records, uint32_t* number) {
    return guarded([&] {
        runner->arrays.assign(arrays, arrays + count);
        runner->records = records;
        runner->is_known = runner->is_open = false;
        runner->answer.clear();
        runner->stamps = Stamps{};
        *number = runner->page.begin(flags, runner->device == nullptr ? 0 : runner->device->choose_sealed(runner->arrays, inputs));
    });
}

// Waits until the runner has queued its work, at most limit_ns nanoseconds. late is set to 1 if the limit has passed.
int warpboard_wait_queued(CoreRunner* runner, double limit_ns, int* late) {
    return guarded([&] {
        runner->page.wait_queued(limit_ns, runner->stamps);
        *late = runner->stamps.late;
    });
}

// Sets the copies of the answer's parts on the device, which are then known before the release.
void warpboard_set_answer(CoreRunner* runner, const WrittenArray* parts, int count) {
    runner->answer.clear();
    for (int i = 0; i < count; ++i) runner->answer.push_back({true, parts[i].to, parts[i].from, parts[i].bytes});
    runner->is_known = true;
}

// Overwrites the last answers, writes the inputs of calls that are made at the same time, and flushes caches if cold is
// set. The judge then keeps the devices busy until the release. If one device cannot wait until all work is queued,
// none does, because loading a kernel for one device may wait for another. Then each device is kept busy as soon as its
// own input is written.
int warpboard_prepare(CoreRunner** runners, int count, int cold, int* at_once) {
    return guarded([&] {
        bool can_wait = true;
        for_each(runners, count, [&](CoreRunner& runner) {
            for (const Region& part : runner.last) runner.device->poison(part.base, part.size);
            runner.last.clear();
            can_wait &= runner.device->can_wait();
        });
        if (can_wait) for_each(runners, count, [](CoreRunner& runner) { runner.device->block(); });
        for_each(runners, count, [&](CoreRunner& runner) {
            runner.device->begin_input(runner.page.number(), runner.records);
            for (const WrittenArray& array : runner.arrays) runner.device->write(array.to, array.from, array.bytes);
            if (cold) runner.device->flush();
            runner.device->hold();
        });
        for_each(runners, count, [&](CoreRunner& runner) {
            runner.device->sample_after(count == 1 ? runner.page.page() : nullptr, runner.page.number());
            if (runner.is_known) runner.device->queue_copies(runner.answer);
        });
        for_each(runners, count, [](CoreRunner& runner) { runner.device->begin_work(); });
        for_each(runners, count, [](CoreRunner& runner) { runner.device->wait_held(); });
        *at_once = can_wait;
    });
}

// Releases calls that are made at the same time, and waits for their ends, and for samples of the answers whose
// addresses are known.
int warpboard_release(CoreRunner** runners, int count, CoreTimes* times) {
    return guarded([&] {
        const double begin = now_ns();
        for_each_page(runners, count, [](CoreRunner& runner) { runner.page.let_in(*runner.device); });
        for_each_page(runners, count, [](CoreRunner& runner) { runner.page.wait_active(); });
        double released = std::numeric_limits<double>::max();
        for_each_page(runners, count, [&](CoreRunner& runner) {
            runner.page.open(*runner.device, runner.stamps);
            runner.is_open = true;
            released = std::min(released, runner.stamps.released);
        });
        double done = 0;
        for_each_page(runners, count, [&](CoreRunner& runner) {
            runner.page.wait_done(runner.stamps, true);
            done = std::max(done, runner.stamps.done);
        });
        for (int i = 0; i < count; ++i) runners[i]->device->open_gate();
        bool sampled = false;
        for_each(runners, count, [&](CoreRunner& runner) { sampled |= runner.is_known && runner.device->wait_sampled(); });
        *times = {released - begin, released, done, sampled ? now_ns() : done};
    });
}

// Announces the release of calls on the host, releases them together after 0.5 ms, and waits for their ends.
int warpboard_call_on_host(CoreRunner** runners, const HostInput* inputs, int count, CoreTimes* times) {
    return guarded([&] {
        std::vector<std::string> descriptions;
        for (int i = 0; i < count; ++i) descriptions.emplace_back(inputs[i].description, inputs[i].description_bytes);
        for_each_page(runners, count, [](CoreRunner& runner) { runner.page.announce_release(); });
        for (const double end = now_ns() + wake_ns; now_ns() < end;) {
        }
        double released = std::numeric_limits<double>::max(), done = 0;
        const HostInput* input = inputs;
        const std::string* description = descriptions.data();
        for_each_page(runners, count, [&](CoreRunner& runner) {
            runner.page.release_host(runner.stamps, [&] {
                if (input->bytes > 0) std::memcpy(input->to, input->from, input->bytes);
                if (input->descriptor >= 0 || !description->empty()) runner.page.send_input(*description, input->descriptor);
            });
            released = std::min(released, runner.stamps.released);
            ++input, ++description;
        });
        for_each_page(runners, count, [&](CoreRunner& runner) {
            runner.page.wait_done(runner.stamps, false);
            done = std::max(done, runner.stamps.done);
        });
        *times = {0, released, done, done};
    });
}

// Waits until the runner has reported its own clock, and sets ns to it, in nanoseconds.
int warpboard_read_event(CoreRunner* runner, double* ns) {
    return guarded([&] {
        runner->page.read_event(runner->stamps);
        *ns = runner->stamps.event;
    });
}

// Waits until a call that was released before it was queued has been queued completely.
int warpboard_wait_described(CoreRunner* runner) {
    return guarded([&] { runner->page.wait_described(); });
}

// Queues a sample and copies of an answer that was not known before the release. It sets in times the end of the call,
// which is now, and the time of the sample.
int warpboard_queue_answer(CoreRunner* runner, CoreTimes* times) {
    return guarded([&] {
        runner->device->make_current();
        runner->device->sample_after(runner->page.page(), runner->page.number());
        runner->device->queue_copies(runner->answer);
        runner->device->open_gate();
        times->done = std::max(times->done, now_ns());
        times->sampled = runner->device->wait_sampled() ? now_ns() : times->done;
    });
}

// Waits until the answers have been copied, and sets at to the judge's clock at this moment.
int warpboard_wait_copied(CoreRunner** runners, int count, double* at) {
    return guarded([&] {
        for_each(runners, count, [](CoreRunner& runner) {
            if (runner.is_known) runner.device->wait_copied();
        });
        *at = now_ns();
    });
}

// Releases all queued work that waits, also after a failure: a process with waiting work cannot end. A gate whose call
// was not released gets the number that ends all calls.
int warpboard_let_go(CoreRunner** runners, int count) {
    return guarded([&] {
        for_each(runners, count, [](CoreRunner& runner) {
            runner.device->release_all();
            if (!runner.is_open) runner.page.leave();
        });
    });
}

// Ends a call. The parts of its answer are overwritten before the next call. changed is set to 1 if the answer still
// changed after "done", and prepared to the nanoseconds in which the input was written.
int warpboard_end_call(CoreRunner* runner, const WrittenArray* parts, int count, double took_ns, int* changed, double* prepared) {
    return guarded([&] {
        runner->stamps.done = runner->stamps.released + took_ns;
        runner->page.keep(runner->stamps);
        *changed = 0, *prepared = 0;
        if (runner->device == nullptr) return;
        runner->device->make_current();
        for (int i = 0; i < count; ++i) {
            Region part;
            part.base = static_cast<unsigned char*>(const_cast<void*>(parts[i].from)), part.size = parts[i].bytes;
            runner->last.push_back(part);
        }
        *changed = runner->device->changed();
        *prepared = runner->device->writing_took();
    });
}

}  // extern "C"
