// Warpboard's harness for tasks of the older form in CUDA C++.
#include <chrono>
#include <iostream>

#include <cuda_runtime.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define WARPBOARD_NVTX 1
#endif

#include "warpboard_legacy.h"

#define WARPBOARD_CUDA(...) ::warpboard::cuda_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

namespace warpboard {

// The whole device, flushed by filling twice its L2 cache.
class Gpu {
public:
    Gpu() {
        int device = 0, l2 = 0;
        WARPBOARD_CUDA(cudaGetDevice(&device));
        WARPBOARD_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
        cold_bytes_ = 2 * static_cast<size_t>(l2);
        if (cold_bytes_ > 0) WARPBOARD_CUDA(cudaMalloc(&cold_, cold_bytes_));
    }

    void synchronize() {
        WARPBOARD_CUDA(cudaGetLastError());
        WARPBOARD_CUDA(cudaDeviceSynchronize());
    }

    void flush() {
        cudaCtxResetPersistingL2Cache();
        cudaGetLastError();  // devices without persisting lines refuse the call
        if (cold_bytes_ > 0) WARPBOARD_CUDA(cudaMemset(cold_, ++fill_, cold_bytes_));
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
    void* cold_ = nullptr;
    size_t cold_bytes_ = 0;
    unsigned char fill_ = 0;
};

}  // namespace warpboard

#include "reference.cuh"
#include "warpboard_reference.h"
#include "train.cuh"
#include "warpboard_kernel.h"

int main(int argc, char** argv) {
    return warpboard::legacy_main<input_t, output_t, warpboard::Reference, warpboard::Kernel, warpboard::Gpu>(argc, argv);
}
