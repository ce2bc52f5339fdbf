// A GPU from the judge's side, for C++: its context is separate from the runner's.
#ifndef WARPBOARD_GPU_JUDGE_H
#define WARPBOARD_GPU_JUDGE_H

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "warpboard_driver.h"
#include "warpboard_judge_device.h"
#include "warpboard_limits.h"

namespace warpboard {

// DevicePool has the memory of the judge's DeviceBuffers. Freed memory is kept for the next buffer of the same size, or
// of at least two thirds of it: allocating takes longer than most kernels, and each call has a new input. With what it
// keeps, the judge has at most twice the memory that it needed at once, because a runner needs memory, too.
class DevicePool {
public:
    void* take(size_t bytes) {
        void* memory = nullptr;
        if (const auto found = idle_.lower_bound(bytes); found != idle_.end() && found->first <= bytes + bytes / 2) {
            memory = found->second;
            idle_bytes_ -= found->first;
            idle_.erase(found);
        } else {
            if (used_ + bytes > 2 * most_in_use_) clear();
            memory = make(bytes);
            sizes_[memory] = bytes;
            used_ += bytes;
        }
        most_in_use_ = std::max(most_in_use_, used_ - idle_bytes_);
        WARPBOARD_CUDA(cudaMemsetAsync(memory, 0xFF, bytes, cudaStreamLegacy));
        return memory;
    }

    void give(void* memory) {
        const size_t bytes = sizes_[memory];
        idle_.emplace(bytes, memory);
        idle_bytes_ += bytes;
    }

    // Makes the submission responsible if memory runs out, because the tests have passed with the available memory, and
    // a runner chooses the size of its answers.
    void blame_runner() { blames_runner_ = true; }

    void count(size_t bytes) { used_ += bytes; }
    void discount(size_t bytes) { used_ -= bytes; }

    // Frees the memory that is kept for reuse.
    void clear() {
        for (const auto& [bytes, memory] : idle_) cudaFree(memory), sizes_.erase(memory);
        idle_.clear();
        used_ -= idle_bytes_;
        idle_bytes_ = 0;
        most_in_use_ = used_;
    }

    // Throws the error for a device without free memory. If the judge uses little of the device's memory, the
    // submission has the rest and is refused; otherwise the task fails.
    [[noreturn]] void exhausted(size_t bytes) const {
        size_t free = 0, total = 0;
        cudaGetLastError();
        cudaMemGetInfo(&free, &total);
        if (blames_runner_ || used_ + bytes <= total / 3) throw Refused{"The submission's process left too little of the device's memory."};
        throw std::runtime_error("the device has no " + std::to_string(bytes) + " bytes left beside the submission's process (" +
                                 std::to_string(free) + " of " + std::to_string(total) + " are free)");
    }

private:
    void* make(size_t bytes) {
        void* memory = nullptr;
        if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
        cudaGetLastError();
        clear();
        if (cudaMalloc(&memory, bytes) != cudaSuccess) exhausted(bytes);
        return memory;
    }

    std::unordered_map<void*, size_t> sizes_;  // of all memory
    std::multimap<size_t, void*> idle_;  // by size
    size_t used_ = 0;  // bytes of all memory of the judge, with idle_bytes_
    size_t idle_bytes_ = 0;
    size_t most_in_use_ = 0;  // most bytes in use at once since clear
    bool blames_runner_ = false;
};

inline DevicePool& device_pool() {
    static auto* pool = new DevicePool;  // never freed, because buffers may outlive every other object
    return *pool;
}

class GpuJudge : public JudgeDevice {
public:
    static constexpr bool released_on_host = false;
    // the runner's clock starts after the device has switched to its context
    static constexpr bool switches_in_call = false;
    static constexpr Bounds bounds{device_tolerance_ns, 4e3, device_handover_ns, 0.05, 0.5, 13e3, sampled_ns};
    static constexpr int calibrations = 20;
    static constexpr size_t calls_of_one_process = device_process_calls;

    void open() {
        cudaSetDeviceFlags(cudaDeviceScheduleSpin);
        JudgeDevice::open();
    }

    // Queues the first work for writing the input of the call with this number. If the device can wait, the work begins
    // only in start.
    void begin_writing(uint32_t number, void* records) {
        at_once_ = can_wait();
        if (at_once_) block();
        begin_input(number, records);
    }

    // Starts the queued work, and waits until its last kernel, which keeps the device busy, runs.
    void start() {
        begin_work();
        wait_held();
    }

    // Reports whether all work before the release was already queued when the device began to write the last input.
    bool at_once() const { return at_once_; }

    // Returns device memory for the copy of an answer, until give_back.
    void* borrow(size_t bytes) { return device_pool().take(bytes); }
    void give_back(void* memory) { device_pool().give(memory); }

    void blame_runner() { device_pool().blame_runner(); }

    // Releases all queued work, and waits for its end, because the memory that it uses is freed next.
    void abandon() {
        release_all();
        cudaDeviceSynchronize();
        cudaGetLastError();  // clears the error, which is already reported
    }

    bool make(Region& region, int& fd) {
        device_pool().clear();  // frees blocks of the previous case, which had other sizes
        const CUmemGenericAllocationHandle space = DeviceMemory::space();
        const bool made = DeviceMemory::make(region, fd);
        DeviceMemory::give_back(space);
        if (!made) device_pool().exhausted(region.size);
        device_pool().count(region.size);
        return true;
    }
    void drop(const Region& region) {
        DeviceMemory::drop(region, true);
        device_pool().discount(region.size);
    }

    size_t free_memory() {
        size_t free = 0, total = 0;
        WARPBOARD_CUDA(cudaMemGetInfo(&free, &total));
        return free;
    }

private:
    bool at_once_ = false;
};

}  // namespace warpboard

#endif
