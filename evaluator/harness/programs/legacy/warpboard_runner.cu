// The runner of a task of the older form in CUDA C++. Reference and submission are headers of one translation unit: the
// submission may use the reference's definitions.
#include <chrono>
#include <iostream>

#include <cuda_runtime.h>

#include "warpboard_legacy_gpu.h"
#include "warpboard_memory.h"
#include "warpboard_runner.h"

#include "reference.cuh"
#include "train.cuh"
#include "warpboard_legacy_kernel.h"

int main() {
    return warpboard::run_runner([] {
        using Memory = warpboard::HeapMemory<warpboard::LegacyGpuRunner>;
        warpboard::LegacyGpuRunner device;
        Memory memory(device);
        warpboard::Runner<input_t, output_t, warpboard::LegacyKernel, warpboard::LegacyGpuRunner, Memory>(
            warpboard::channel_fd, warpboard::page_fd, device, memory).serve();
    });
}
