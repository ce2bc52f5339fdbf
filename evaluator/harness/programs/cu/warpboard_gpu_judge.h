// A GPU from the judge's side: all work is on the legacy default stream of a separate context.
#ifndef WARPBOARD_GPU_JUDGE_H
#define WARPBOARD_GPU_JUDGE_H

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_limits.h"
#include "warpboard_driver.h"
#include "warpboard_hold.h"
#include "warpboard_answer_copies.h"

namespace warpboard {

// DevicePool has the memory of the judge's DeviceBuffers. Freed memory is kept for the next buffer of the same size:
// allocating takes longer than most kernels, and each call has a new input.
class DevicePool {
public:
    void* take(size_t bytes) {
        std::vector<void*>& idle = idle_[bytes];
        void* memory = nullptr;
        if (!idle.empty()) {
            memory = idle.back();
            idle.pop_back();
        } else {
            memory = make(bytes);
            used_ += bytes;
        }
        WARPBOARD_CUDA(cudaMemsetAsync(memory, 0xFF, bytes, cudaStreamLegacy));
        return memory;
    }

    void give(void* memory, size_t bytes) { idle_[bytes].push_back(memory); }

    // Makes missing memory the submission's fault, because the tests have passed with the available memory: a runner
    // chooses the size of its answers.
    void blame_runner() { blames_runner_ = true; }

    void count(size_t bytes) { used_ += bytes; }
    void discount(size_t bytes) { used_ -= bytes; }

    // Frees the kept memory.
    void clear() {
        for (auto& [bytes, blocks] : idle_) {
            for (void* memory : blocks) cudaFree(memory), used_ -= bytes;
            blocks.clear();
        }
    }

    // Reports that no memory is left. This is the task's fault, unless it uses little of the device: then the
    // submission has the rest.
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

    std::unordered_map<size_t, std::vector<void*>> idle_;
    size_t used_ = 0;
    bool blames_runner_ = false;
};

inline DevicePool& device_pool() {
    static auto* pool = new DevicePool;  // buffers may outlive every other object
    return *pool;
}

class GpuJudge {
public:
    static constexpr bool released_on_host = false;
    static constexpr bool switches_in_call = false;  // the runner's clock starts after the device's switch to it
    static constexpr Bounds bounds{device_tolerance_ns, 4e3, device_handover_ns, 0.05, 0.5, 13e3, sampled_ns};
    static constexpr int calibrations = 20;
    static constexpr size_t sealed_bytes = most_records * sizeof(Record);
    static constexpr size_t calls_of_one_process = device_process_calls;

    void open() {
        cudaSetDeviceFlags(cudaDeviceScheduleSpin);
        int device = 0, l2 = 0;
        WARPBOARD_CUDA(cudaGetDevice(&device));
        WARPBOARD_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device));
        cold_bytes_ = std::max(2 * static_cast<size_t>(l2), size_t{1} << 20);
        WARPBOARD_CUDA(cudaMalloc(&cold_, cold_bytes_));
        hold_.open(cold_);
        copies_.open();
    }

    // Chooses the sealed parts of these arrays of an input. Returns the number of records.
    unsigned choose_sealed(const std::vector<WrittenArray>& arrays, const void* inputs) {
        sizes_.clear();
        for (const WrittenArray& array : arrays) sizes_.push_back(array.bytes);
        return hold_.choose(arrays, inputs);
    }

    // Marks the moment before the first byte of the input is written, and seals the chosen parts. The device begins in
    // start, unless arrays of these sizes are written for the first time: loading a kernel may wait for the device.
    void begin_writing(uint32_t number, void* records) {
        cudaCtxResetPersistingL2Cache();  // the runner's lines
        cudaGetLastError();               // devices without persisting lines refuse the call
        at_once_ = sizes_ == written_ && sizes_.size() < most_waiting_arrays;
        if (at_once_) hold_.block();
        written_ = sizes_;
        hold_.begin(number, records);
    }
    const SealKey& key() const { return hold_.key(); }

    // Queues the kernel that keeps the device until let_go.
    void hold() { hold_.queue(); }

    // Leaves the device idle until other contexts have had their turns.
    void rest() {
        WARPBOARD_CUDA(cudaDeviceSynchronize());
        usleep(4000);
    }

    // Starts the queued work, and waits until the last kernel keeps the device.
    void start() {
        hold_.start();
        hold_.wait_running();
    }
    void let_go() { hold_.let_go(); }

    // Returns the nanoseconds from begin_writing to let_go: more than usual if another context had turns. Call it after
    // the call.
    double writing_took() const { return hold_.duration(); }

    // Reports whether everything until the release was queued when the device began to write the last input.
    bool at_once() const { return at_once_; }

    // Returns memory in place of an answer's.
    void* borrow(size_t bytes) { return device_pool().take(bytes); }
    void give_back(void* memory, size_t bytes) { device_pool().give(memory, bytes); }

    // Fills the L2 cache with other data.
    void flush() {
        WARPBOARD_CUDA(cudaMemsetAsync(cold_, ++fill_, cold_bytes_, cudaStreamLegacy));
    }

    // Queues the copies of an answer's parts on the device, which wait for open_gate, and a sample of them.
    void queue_copies(const std::vector<AnswerReader::Copy>& answer) { copies_.queue(answer); }
    // Makes the next sample wait for the end of this call.
    void sample_after(Page* page, uint32_t call) { copies_.after(page, call); }
    void open_gate() { copies_.open_gate(); }
    bool wait_sampled() { return copies_.wait_sampled(); }  // false without a sample
    void wait_copied() { copies_.wait_copied(); }

    void blame_runner() { device_pool().blame_runner(); }

    // Releases everything queued, and waits for its end: the memory that it uses is freed next.
    void abandon() {
        hold_.start();
        hold_.let_go();
        copies_.let_go();
        cudaDeviceSynchronize();
        cudaGetLastError();  // the failure is reported already
    }

    // Reports whether the last answer still changed after "done".
    bool changed() { return copies_.changed(); }

    bool make(Region& region, int& fd) {
        device_pool().clear();  // the case before had other sizes
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

    // Writes an array of an input, except the sealed parts.
    void write(void* to, const void* from, size_t bytes) {
        if (!hold_.whole(to)) return copy(to, from, bytes);
        poison(to, bytes);
        const size_t words = bytes / 4 * 4;
        if (words < bytes) copy(static_cast<unsigned char*>(to) + words, static_cast<const unsigned char*>(from) + words, bytes - words);
    }
    void copy(void* to, const void* from, size_t bytes) {
        WARPBOARD_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cudaStreamLegacy));
    }
    void poison(void* memory, size_t bytes) { WARPBOARD_CUDA(cudaMemsetAsync(memory, 0xFF, bytes, cudaStreamLegacy)); }

    size_t free_memory() {
        size_t free = 0, total = 0;
        WARPBOARD_CUDA(cudaMemGetInfo(&free, &total));
        return free;
    }

private:
    void* cold_ = nullptr;
    size_t cold_bytes_ = 0;
    Hold hold_;
    AnswerCopies copies_;
    std::vector<size_t> sizes_, written_;  // of this input's arrays, and of the last one's
    bool at_once_ = false;
    unsigned char fill_ = 0;
};

}  // namespace warpboard

#endif
