// Copies of an answer on a GPU into the judge's memory, and a sample of it.
#ifndef WARPBOARD_ANSWER_COPIES_H
#define WARPBOARD_ANSWER_COPIES_H

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>
#include <stdexcept>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_driver.h"
#include "warpboard_page.h"
#include "warpboard_random.h"

namespace warpboard {

// AnswerCopies queues the copies before the release. They wait for a word in host memory (the gate), which the judge
// sets when the runner is "done": launching them only then would give the runner 10 to 30 us more. The device writes
// other words when the sample and the copies have ended: on some GPUs a synchronization returns 10 us later than such a
// write.
//
// The sample has some bytes from unpredictable offsets of the answer, and its last bytes. A copy engine waits for the
// runner's "done" itself, and copies the sample 4 to 10 us after that. The whole answer is copied some 150 us later,
// when the device has switched to the judge's context. By then, all queued work of the runner has ended: what it wrote
// after "done" is in the copy, but not in the sample.
class AnswerCopies {
public:
    using Copy = AnswerReader::Copy;

    // Allocates memory and streams. It needs a current CUDA context.
    void open() {
        void* memory = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        words_ = new (memory) Words{};
        seen_ = seen_by_device(memory, sizeof(Words));
        // Non-blocking streams do not wait for the default stream.
        WARPBOARD_CUDA(cudaStreamCreateWithFlags(&sampling_, cudaStreamNonBlocking));
        WARPBOARD_CUDA(cudaStreamCreateWithFlags(&releasing_, cudaStreamNonBlocking));
    }

    // Queues the sample, and the copies of the parts on the device, behind the gate.
    void queue(const std::vector<Copy>& copies) {
        ++number_;
        const Copy* chosen = choose(copies);
        sampled_ = chosen == nullptr ? Sample{} : Sample::of(*chosen, random_);
        if (chosen != nullptr) {
            const CUdeviceptr end = page_ == nullptr ? seen_ + offsetof(Words, gate) : pages_.at(page_) + offsetof(Page, done);
            if (!queue_wait(sampling_, end, page_ == nullptr ? number_ : call_)) cannot_wait();
            sample(words_->first, chosen->from);
            say(sampling_, offsetof(Words, sampled));
            into_ = chosen->into;
        }
        if (!queue_wait(cudaStreamLegacy, seen_ + offsetof(Words, gate), number_)) cannot_wait();
        for (const Copy& copy : copies) {
            if (copy.device) WARPBOARD_CUDA(cudaMemcpyAsync(copy.into, copy.from, copy.bytes, cudaMemcpyDeviceToDevice, cudaStreamLegacy));
        }
        say(cudaStreamLegacy, offsetof(Words, copied));
    }

    // Makes the next sample wait for the end of this call as written in page, or for the gate if page is null. The
    // first call for a page must come while the device does not wait for the judge.
    void after(Page* page, uint32_t call) {
        if (page != nullptr && pages_.count(page) == 0) pages_[page] = seen_by_device(page, sizeof *page);
        page_ = page;
        call_ = call;
        sampled_ = Sample{};
    }

    // Forgets the page of a runner that has ended.
    void forget(Page* page) {
        pages_.erase(page);
        cudaHostUnregister(page);  // also unregisters an earlier page at the same address
        cudaGetLastError();
        if (page_ == page) page_ = nullptr;
    }

    // Reports whether the sample has been taken. Before the release, this means that the runner has falsely reported
    // "done".
    bool has_sampled() const { return sampled_.width > 0 && __atomic_load_n(&words_->sampled, __ATOMIC_ACQUIRE) == number_; }

    void open_gate() { __atomic_store_n(&words_->gate, number_, __ATOMIC_RELEASE); }

    // Releases all queued work that waits. It repeatedly writes "done" into the runner's page, because the runner may
    // overwrite it, and lets the device write it, too, because the runner may have replaced the memory that this
    // process sees.
    void let_go() {
        const double end = now_ns() + let_go_limit_ns;
        open_gate();
        if (page_ == nullptr) return;
        do {
            page_->done.store(call_, std::memory_order_release);
            if (sampled_.width == 0 || cudaStreamQuery(sampling_) != cudaErrorNotReady) return;
            queue_write(releasing_, pages_.at(page_) + offsetof(Page, done), call_);
        } while (now_ns() < end);
    }

    // Waits until the sample is taken. Returns false if none was queued.
    bool wait_sampled() {
        if (sampled_.width == 0) return false;
        wait(words_->sampled, sampling_);
        return true;
    }

    void wait_copied() { wait(words_->copied, cudaStreamLegacy); }

    // Reports whether the copy differs from the sample.
    bool changed() {
        if (sampled_.width == 0) return false;
        sample(words_->later, into_);
        WARPBOARD_CUDA(cudaStreamSynchronize(sampling_));
        return std::memcmp(words_->first, words_->later, sampled_.width * sampled_.height + sampled_.tail) != 0;
    }

private:
    static constexpr size_t rows = sample_rows, row_bytes = sample_row_bytes, step = sample_step, most_pitch = most_sample_pitch;
    static constexpr double let_go_limit_ns = 1e9;
    static constexpr unsigned looks_between = 1 << 20;  // number of polls between two checks of the device for errors

    struct Words {
        alignas(128) uint32_t gate = 0;
        alignas(128) uint32_t sampled = 0;
        alignas(128) uint32_t copied = 0;
        alignas(128) unsigned char first[(rows + 1) * row_bytes] = {};
        unsigned char later[(rows + 1) * row_bytes] = {};
    };

    // Sample describes the bytes of a sample: rows at a constant distance (pitch), and the last bytes of the array,
    // where a sum is often written last.
    struct Sample {
        size_t skip = 0, pitch = 0, width = 0, height = 0, end = 0, tail = 0;

        static Sample of(const Copy& copy, Random& random) {
            Sample s;
            s.height = copy.bytes >= rows * row_bytes ? rows : 1;
            s.pitch = s.height > 1 ? std::min(copy.bytes / s.height / step * step, most_pitch) : copy.bytes;
            s.width = s.height > 1 ? row_bytes : copy.bytes;
            s.end = copy.bytes;
            s.tail = s.height > 1 ? row_bytes : 0;
            s.skip = random() % ((copy.bytes - (s.height - 1) * s.pitch - s.width) / step + 1) * step;
            return s;
        }
    };

    // Chooses the part of the answer to sample: in half of the calls the largest, else a random one, so that a late
    // write to any part is detected in some call.
    const Copy* choose(const std::vector<Copy>& copies) {
        std::vector<const Copy*> all;
        for (const Copy& copy : copies) {
            if (copy.device) all.push_back(&copy);
        }
        if (all.empty()) return nullptr;
        if (random_() % 2 == 0) return all[random_() % all.size()];
        return *std::max_element(all.begin(), all.end(), [](const Copy* a, const Copy* b) { return a->bytes < b->bytes; });
    }

    [[noreturn]] static void cannot_wait() { throw std::runtime_error("the device cannot wait for the end of a call"); }

    // Makes the device write the number after all earlier work in the stream.
    void say(cudaStream_t stream, size_t word) {
        if (!queue_write(stream, seen_ + word, number_)) throw std::runtime_error("the device cannot say when an answer has been copied");
    }

    void wait(const uint32_t& word, cudaStream_t stream) {
        const double end = now_ns() + copy_limit_ns;
        for (unsigned looks = 1; __atomic_load_n(&word, __ATOMIC_ACQUIRE) != number_; ++looks) {
            if (looks % looks_between != 0) continue;
            if (now_ns() > end) throw Refused{"The device could not copy the answer within 10 s after the submission's process was done with it."};
            const cudaError_t status = cudaStreamQuery(stream);
            if (status != cudaErrorNotReady) WARPBOARD_CUDA(status);
        }
    }

    void sample(unsigned char* to, const void* from) {
        WARPBOARD_CUDA(cudaMemcpy2DAsync(to, sampled_.width, static_cast<const unsigned char*>(from) + sampled_.skip, sampled_.pitch,
                                         sampled_.width, sampled_.height, cudaMemcpyDeviceToHost, sampling_));
        if (sampled_.tail == 0) return;
        WARPBOARD_CUDA(cudaMemcpyAsync(to + sampled_.width * sampled_.height, static_cast<const unsigned char*>(from) + sampled_.end - sampled_.tail,
                                       sampled_.tail, cudaMemcpyDeviceToHost, sampling_));
    }

    Words* words_ = nullptr;
    CUdeviceptr seen_ = 0;  // address of words_ on the device
    cudaStream_t sampling_ = nullptr, releasing_ = nullptr;
    uint32_t number_ = 0;
    std::map<Page*, CUdeviceptr> pages_;  // addresses of runners' pages on the device
    Page* page_ = nullptr;
    uint32_t call_ = 0;
    Random random_ = Random::fresh();
    Sample sampled_;
    const void* into_ = nullptr;  // the judge's copy of the sampled part
};

}  // namespace warpboard

#endif
