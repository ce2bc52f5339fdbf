// Warpboard's harness for CUDA: events around the call, with work queued ahead so that launching is
// not what is measured, and the L2 cache flushed, persisting lines too.
#include <cuda_runtime.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define WARPBOARD_NVTX 1
#endif

#include "task.h"
#include "utils.h"

#if __has_include("reference.cuh")
#include "reference.cuh"
#else
#include "reference.h"
#endif

#include "warpboard_main.h"

namespace {

// Keeps the stream busy for some nanoseconds while the host queues what comes after.
__global__ void hold_stream(unsigned long long ns) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < ns);
}

class Gpu {
public:
    static constexpr double warm_up_ns = 200e6;

    Gpu() {
        int device = 0, l2 = 0;
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
        cold_bytes_ = 2 * static_cast<size_t>(l2);
        if (cold_bytes_ > 0) CUDA_CHECK(cudaMalloc(&cold_, cold_bytes_));
        CUDA_CHECK(cudaEventCreate(&begin_));
        CUDA_CHECK(cudaEventCreate(&end_));
    }

    void synchronize() {
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    }

    // Fills blocks of several sizes, which are the ones that the allocator hands out next, with 0xFF.
    void poison() {
        void* blocks[poisoned_sizes] = {};
        size_t bytes = size_t{64} << 10;
        for (void*& block : blocks) {
            if (cudaMalloc(&block, bytes) == cudaSuccess) cudaMemset(block, 0xFF, bytes);
            bytes <<= 4;
        }
        for (void* block : blocks) cudaFree(block);
        cudaGetLastError();  // a block that did not fit is no error of the submission
    }

    // Queues, without waiting: a hold that covers the host's part of the call, the flush, the event.
    void start() {
        cudaCtxResetPersistingL2Cache();
        cudaGetLastError();  // devices without persisting lines refuse the call
        hold_stream<<<1, 1>>>(static_cast<unsigned long long>(hold_ns_));
        if (cold_bytes_ > 0) CUDA_CHECK(cudaMemsetAsync(cold_, ++fill_, cold_bytes_));
        CUDA_CHECK(cudaEventRecord(begin_));
        host_begin_ = warpboard::now_ns();
    }

    // Work that the call left on other streams counts: what the device still does after the event is
    // added to the time.
    void stop() {
        const double host_ns = warpboard::now_ns() - host_begin_;
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaEventRecord(end_));
        CUDA_CHECK(cudaEventSynchronize(end_));
        const double tail_begin = warpboard::now_ns();
        CUDA_CHECK(cudaDeviceSynchronize());
        tail_ns_ = warpboard::now_ns() - tail_begin;
        hold_ns_ = std::min(1.5 * host_ns, longest_hold_ns);
    }

    double elapsed_ns() const {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, begin_, end_));
        const double ns = static_cast<double>(ms) * 1e6;
        return ns + (tail_ns_ > std::max(idle_sync_ns, 0.1 * ns) ? tail_ns_ : 0);
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

private:
    static constexpr int poisoned_sizes = 4;          // 64 KiB, 1 MiB, 16 MiB, 256 MiB
    static constexpr double longest_hold_ns = 1e6;    // a call that waits for the device needs no hold
    static constexpr double idle_sync_ns = 100e3;     // well above what synchronising an idle device takes

    void* cold_ = nullptr;
    size_t cold_bytes_ = 0;
    unsigned char fill_ = 0;
    double hold_ns_ = 50e3;
    double host_begin_ = 0;
    double tail_ns_ = 0;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return warpboard::main<Gpu>(argc, argv); }
