// A GPU for tasks of the older form. Inputs and answers are in host memory, the kernel copies them to and from the
// device itself, and a call's time is from a synchronised start to a synchronised end. So calls wait for their release
// on the host, and the device's switch to the runner's context is part of a call: the judge's clock counts, minus the
// cost of an empty call with such a switch.
#ifndef WARPBOARD_LEGACY_GPU_H
#define WARPBOARD_LEGACY_GPU_H

#include <cuda_runtime.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define WARPBOARD_NVTX 1
#endif

#include "warpboard_exit.h"
#include "warpboard_host.h"

namespace warpboard {

class LegacyGpuRunner : public HostRunner {
public:
    void open(Page& page) {
        HostRunner::open(page);
        cudaSetDeviceFlags(cudaDeviceScheduleSpin);
        WARPBOARD_CUDA(cudaFree(nullptr));
    }

    void end() {
        WARPBOARD_CUDA(cudaGetLastError());
        WARPBOARD_CUDA(cudaDeviceSynchronize());
        HostRunner::end();
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

    // Does the work of an empty call of the judge's own runner: the least work of a device.
    void work() {
        if (scratch_ == nullptr) WARPBOARD_CUDA(cudaMalloc(&scratch_, scratch_bytes));
        WARPBOARD_CUDA(cudaMemset(scratch_, 0, scratch_bytes));
    }

private:
    static constexpr size_t scratch_bytes = 256;
    void* scratch_ = nullptr;
};

class LegacyGpuJudge : public HostJudge {
public:
    static constexpr bool switches_in_call = true;
    static constexpr Bounds bounds{host_tolerance_ns, 20e3, 1e6, 1.0, 0.5, 0, 0};

    void open() {
        cudaSetDeviceFlags(cudaDeviceScheduleSpin);
        int device = 0, l2 = 0;
        WARPBOARD_CUDA(cudaGetDevice(&device));
        WARPBOARD_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
        cold_bytes_ = 2 * static_cast<size_t>(l2);
        if (cold_bytes_ > 0) WARPBOARD_CUDA(cudaMalloc(&cold_, cold_bytes_));
    }

    // Flushes the device's caches. The host's caches still contain the input, which the kernel copies to the device.
    void flush() {
        cudaCtxResetPersistingL2Cache();
        cudaGetLastError();  // devices without persisting lines return an error
        if (cold_bytes_ > 0) WARPBOARD_CUDA(cudaMemset(cold_, ++fill_, cold_bytes_));
    }

    void hold() {
        HostJudge::hold();
        WARPBOARD_CUDA(cudaDeviceSynchronize());
    }

private:
    void* cold_ = nullptr;
    size_t cold_bytes_ = 0;
    unsigned char fill_ = 0;
};

}  // namespace warpboard

#endif
