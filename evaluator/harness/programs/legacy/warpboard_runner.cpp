// The runner of a task of the older form in C++ on the CPU. Reference and submission are headers of one translation
// unit: the submission may use the reference's definitions.
#include <chrono>
#include <iostream>

#include "warpboard_host.h"
#include "warpboard_memory.h"
#include "warpboard_runner.h"

#include "reference.cuh"
#include "train.cuh"
#include "warpboard_legacy_kernel.h"

int main() {
    return warpboard::run_runner([] {
        using Memory = warpboard::HeapMemory<warpboard::HostRunner>;
        warpboard::HostRunner device;
        Memory memory(device);
        warpboard::Runner<input_t, output_t, warpboard::LegacyKernel, warpboard::HostRunner, Memory>(
            warpboard::channel_fd, warpboard::page_fd, device, memory).serve();
    });
}
