// The judge's side of a device: it flushes caches, keeps the device busy until the release, and copies answers.
#ifndef WARPBOARD_JUDGE_DEVICE_H
#define WARPBOARD_JUDGE_DEVICE_H

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_answer_copies.h"
#include "warpboard_driver.h"
#include "warpboard_exit.h"
#include "warpboard_hold.h"
#include "warpboard_limits.h"

namespace warpboard {

// JudgeDevice queues all of the judge's work on the legacy default stream of its context.
class JudgeDevice {
public:
    static constexpr size_t sealed_bytes = most_records * sizeof(Record);

    void open() {
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

    // Reports whether the device can wait until all work for the chosen arrays is queued. It cannot if arrays of these
    // sizes are written for the first time, because loading a kernel may wait for the device. It remembers the sizes of
    // many calls, because two kernels that are called alternately may have different sizes.
    bool can_wait() {
        cudaCtxResetPersistingL2Cache();  // lines that the runner made persist in the L2 cache
        cudaGetLastError();               // devices without persisting lines return an error
        const bool known = written_.count(sizes_) > 0;
        if (written_.size() >= most_sizes) written_.clear();
        written_.insert(sizes_);
        return known && sizes_.size() <= most_waiting_arrays;
    }

    // Makes the device wait for begin_work. Until then, this process must not wait for the device.
    void block() { hold_.block(); }

    // Queues the kernels that record the time before the first byte of the input is written, and encrypt the chosen
    // parts.
    void begin_input(uint32_t number, void* records) { hold_.begin(number, records); }
    const SealKey& key() const { return hold_.key(); }

    // Queues the kernel that keeps the device busy until let_go.
    void hold() { hold_.queue(); }

    // Leaves the device idle for 4 ms, so that other contexts have their time slices.
    void rest() {
        WARPBOARD_CUDA(cudaDeviceSynchronize());
        usleep(4000);
    }

    // Starts the queued work.
    void begin_work() { hold_.start(); }

    // Waits until the kernel runs that keeps the device busy.
    void wait_held() { hold_.wait_running(); }
    void let_go() { hold_.let_go(); }

    // Returns the nanoseconds from the first byte of the input to let_go, which are more than usual if another context
    // had time slices. Call it after the end of the call.
    double writing_took() const { return hold_.duration(); }

    // Fills the L2 cache with other data.
    void flush() {
        WARPBOARD_CUDA(cudaMemsetAsync(cold_, ++fill_, cold_bytes_, cudaStreamLegacy));
    }

    // Queues the copies of an answer's parts on the device, which wait for open_gate, and a sample of them.
    void queue_copies(const std::vector<AnswerReader::Copy>& answer) { copies_.queue(answer); }
    // Makes the next sample wait for the end of this call as written in page, or for open_gate if page is null.
    void sample_after(Page* page, uint32_t call) { copies_.after(page, call); }
    void forget(Page* page) { copies_.forget(page); }
    void open_gate() { copies_.open_gate(); }
    bool has_sampled() const { return copies_.has_sampled(); }
    bool wait_sampled() { return copies_.wait_sampled(); }  // false if no sample was queued
    void wait_copied() { copies_.wait_copied(); }

    // Releases all queued work.
    void release_all() {
        hold_.start();
        hold_.let_go();
        copies_.let_go();
    }

    // Reports whether the last answer still changed after "done".
    bool changed() { return copies_.changed(); }

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

private:
    static constexpr size_t most_sizes = 1024;  // most calls whose array sizes are remembered

    void* cold_ = nullptr;
    size_t cold_bytes_ = 0;
    Hold hold_;
    AnswerCopies copies_;
    std::vector<size_t> sizes_;  // sizes of the current input's arrays, in bytes
    std::set<std::vector<size_t>> written_;
    unsigned char fill_ = 0;
};

}  // namespace warpboard

#endif
