// A GPU from the runner's side: calls are queued behind a kernel that waits for their release.
#ifndef WARPBOARD_GPU_RUNNER_H
#define WARPBOARD_GPU_RUNNER_H

#include <cuda_runtime.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define WARPBOARD_NVTX 1
#endif

#include <algorithm>
#include <memory>
#include <vector>

#include "warpboard_arena.h"
#include "warpboard_driver.h"
#include "warpboard_page.h"
#include "warpboard_seal.h"

namespace warpboard {

// GpuRunner makes the legacy default stream wait for the release of a call. Kernels without a stream are launched on
// it, and other blocking streams wait for it. Work on non-blocking streams does not wait: before the release it reads
// wrong inputs.
class GpuRunner {
public:
    static constexpr bool released_on_host = false;

    void open(Page& page) {
        cudaSetDeviceFlags(cudaDeviceScheduleSpin);
        WARPBOARD_CUDA(cudaFree(nullptr));
        page_ = reinterpret_cast<unsigned char*>(seen_by_device(&page, sizeof page));
        WARPBOARD_CUDA(cudaEventCreate(&begin_));
        WARPBOARD_CUDA(cudaEventCreate(&end_));
        WARPBOARD_CUDA(cudaMalloc(&scratch_, scratch_bytes));
        work();
        WARPBOARD_CUDA(cudaMalloc(&gate_, sizeof *gate_));
        WARPBOARD_CUDA(cudaMemset(gate_, 0, sizeof *gate_));
        launch_gate(0, nullptr, nullptr, 0);  // loads the kernel, which ends at once, because the page's release is 0
        WARPBOARD_CUDA(cudaDeviceSynchronize());
    }

    // Queues the gate. It starts only when the judge announces the release: earlier, it would share the device with the
    // judge's work for the call.
    void begin(const Page& page, uint32_t number, const Region& inputs, const Region& sealed) {
        check(queue_wait(cudaStreamLegacy, word(offsetof(Page, soon)), number));
        launch_gate(number, inputs.base, sealed.base, page.sealed.load(std::memory_order_relaxed));
        WARPBOARD_CUDA(cudaEventRecord(begin_, cudaStreamLegacy));
    }

    void end() {
        WARPBOARD_CUDA(cudaGetLastError());
        WARPBOARD_CUDA(cudaEventRecord(end_, cudaStreamLegacy));
    }

    // Makes the device write "done" into the page after all queued work.
    void say_done(uint32_t number) { check(queue_write(cudaStreamLegacy, word(offsetof(Page, done)), number)); }

    // Waits until all streams are idle. Returns the kernel's time in nanoseconds by CUDA events.
    double settle() {
        while (cudaEventQuery(end_) == cudaErrorNotReady) {
        }
        WARPBOARD_CUDA(cudaDeviceSynchronize());
        float ms = 0;
        WARPBOARD_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
        return static_cast<double>(ms) * 1e6;
    }

    bool map(Region& region, int fd) {
        if (!DeviceMemory::import(region, fd)) return false;
        shared_.push_back({region, nullptr});
        if (region.role != REGION_ANSWERS) return true;
        auto arena = std::make_unique<Arena>();
        if (!arena->open(region)) return true;
        current_ = arena.get();
        shared_.back().arena = std::move(arena);
        return true;
    }

    // Unmaps a region, unless the submission still uses its memory. The addresses stay reserved, so that the submission
    // can still free memory there.
    void drop(const Region& region) {
        for (Shared& shared : shared_) {
            if (shared.region.base != region.base) continue;
            if (shared.arena.get() == current_) current_ = nullptr;
            if (shared.arena == nullptr || shared.arena->close()) DeviceMemory::drop(region, false);
        }
    }

    // Returns memory of the answers' region, or null.
    void* take(size_t bytes) { return current_ == nullptr ? nullptr : current_->take(bytes); }
    size_t wanted() { return current_ == nullptr ? 0 : current_->wanted(); }

    // Frees memory in a shared region; memory of inputs needs no freeing. Returns false if it lies in no region.
    bool give(void* memory) {
        for (Shared& shared : shared_) {
            if (!shared.region.holds(memory, 1)) continue;
            if (shared.arena != nullptr) shared.arena->give(memory);
            return true;
        }
        return false;
    }

    void copy(void* to, const void* from, size_t bytes) {
        WARPBOARD_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cudaStreamLegacy));
    }

    void begin_range() {
#ifdef WARPBOARD_NVTX
        nvtxRangePushA("custom_kernel");
#endif
    }

    void end_range() {
#ifdef WARPBOARD_NVTX
        nvtxRangePop();
#endif
    }

    // The kernels of the judge's own runner: work is the least work of a device, fill overwrites memory.
    void work() { WARPBOARD_CUDA(cudaMemsetAsync(scratch_, 0, scratch_bytes, cudaStreamLegacy)); }
    void fill(void* memory, size_t bytes) { WARPBOARD_CUDA(cudaMemsetAsync(memory, 0x5A, bytes, cudaStreamLegacy)); }

private:
    static constexpr size_t scratch_bytes = 256;


    CUdeviceptr word(size_t offset) const { return reinterpret_cast<CUdeviceptr>(page_) + offset; }

    static void check(bool queued) {
        if (queued) return;
        std::fprintf(stderr, "the device cannot wait for the release of a call or say that it is done\n");
        std::_Exit(ExitCodes::EXIT_CUDA_API);
    }

    void launch_gate(uint32_t number, void* inputs, const void* records, unsigned sealed) {
        const unsigned parts = sealed * record_parts, blocks = std::max(1u, (parts + gate_threads - 1) / gate_threads);
        WARPBOARD_LAUNCH(warpboard_open_gate, blocks, gate_threads, reinterpret_cast<volatile uint32_t*>(page_), number, static_cast<uint32_t*>(inputs),
                         static_cast<const Record*>(records), parts, gate_);
        WARPBOARD_CUDA(cudaGetLastError());
    }

    struct Shared {
        Region region;
        std::unique_ptr<Arena> arena;  // an allocator in the region if that is for answers; null for other regions
    };

    std::vector<Shared> shared_;  // regions of all cases so far
    Arena* current_ = nullptr;  // allocates in the current case's region of answers
    unsigned char* page_ = nullptr;  // the page's address on the device
    GateWords* gate_ = nullptr;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
    void* scratch_ = nullptr;
};

}  // namespace warpboard

#endif
